// Suppressed addresses as their account lists and changes them. `address` in lower case.
import Type from 'typebox';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { instant, textOrNull } from '../../../kit/fields.ts';
import { type Resource, resourceTable } from '../../../kit/resource.ts';
import { patternWithWords } from '../../../lib/pattern-words.ts';
import { iso } from '../../../lib/time.ts';
import type { SuppressionReason } from './suppressed.ts';

export interface SuppressionRow {
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly email_id: string | null;
  readonly created_at: number;
}

export const suppressionTable = resourceTable<SuppressionRow>({
  table: 'email.suppression',
  key: 'address',
  columns: 'address, reason, email_id, created_at',
  filters: ['reason'],
  counted: "reason = 'manual'",
});

/** By tier; account.tier shows it. What bounces and recipients add is not limited: it keeps mail from being sent. */
export const suppressionLimits = {
  email_suppressions: {
    description: 'Addresses suppressed by hand.',
    used: suppressionTable.count,
    standard: 10_000,
    pro: 100_000,
    enterprise: 1_000_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

export const addressField = Type.String({
  minLength: 3,
  maxLength: 320,
  pattern: patternWithWords('^[^\\s\\p{Cc}@]+@[^\\s\\p{Cc}@/]+$', 'must be an e-mail address'),
  description: 'An e-mail address; case does not matter.',
});

export const suppressionSchema = Type.Object({
  address: Type.String({ description: 'In lower case.' }),
  reason: Type.Enum(['bounce', 'complaint', 'unsubscribe', 'manual'], {
    description: 'bounce and complaint are added by reports of receivers, unsubscribe by the recipient, manual by you.',
  }),
  email_id: textOrNull('The e-mail that led to it; null when none did.'),
  created_at: instant('When it was added.'),
});

export const suppressions: Resource<SuppressionRow, unknown, typeof suppressionSchema> = {
  ...suppressionTable,
  noun: 'suppression',
  keyName: 'address',
  keyField: addressField,
  output: suppressionSchema,
  find: (db, ctx, address) => suppressionTable.find(db, ctx, address.toLowerCase()),
  remove: (tx, ctx, address) => suppressionTable.remove(tx, ctx, address.toLowerCase()),
  show: showSuppression,
};

export function showSuppression(row: SuppressionRow) {
  return { ...row, created_at: iso(row.created_at) };
}
