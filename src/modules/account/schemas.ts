// Schemas that several capabilities of the module share.

import Type from 'typebox';
import { instantOrNull, plainTextOrNull } from '../../kit/fields.ts';
import { alsoNamed } from '../../kit/second-names.ts';
import { nanosOfUsd } from '../../lib/money.ts';
import { invalidField } from '../../problems/problem.ts';
import { usdOrNull } from './list-fields.ts';

const NAME_CHARACTERS_MAX = 128;
const SCOPES_MAX = 100;
const SCOPE_CHARACTERS_MAX = 128;

export const keyIdField = alsoNamed(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Id of the key, `key_…`, as create and list return it.',
  }),
  'id',
);

export const nameField = plainTextOrNull(
  NAME_CHARACTERS_MAX,
  'Name for people; it changes nothing of what the key may do.',
);

export const scopesField = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string', maxLength: SCOPE_CHARACTERS_MAX },
  maxItems: SCOPES_MAX,
  description:
    'What the key may do; null or empty means all modules. Each entry is `*`, a module (`queue`), `module:read`, `module:write`, ' +
    '`module:admin`, or a capability id (`queue.publish`). A module is the same as its admin scope, which includes write, which includes read.',
});

export const expiresAtField = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  maxLength: 40,
  description: 'When the key stops working, in the future, ISO 8601 with a time zone. Null or absent: never.',
});

export const spendCapField = Type.Unsafe<number | null>({
  type: ['number', 'null'],
  minimum: 0,
  maximum: 9_000_000_000,
  description:
    'Most that billable calls with this key may spend in spend_cap_period, in steps of 0.000000001 USD; beyond it they answer 402 ' +
    'with code_detail key_cap. Null: no cap; 0: none of them. What is held for running work counts.',
});

export const spendCapPeriodField = Type.Enum(['total', 'daily', 'monthly'], {
  description: 'What spend_cap_usd is for: all that the key ever spends (total), or each UTC calendar day or month.',
});

export const keySecretField = Type.String({
  description: 'The secret to send as `Authorization: Bearer`. It is shown this once; store it now.',
});

export const secretField = Type.String({ description: 'The same as key_secret.' });

const keyFields = {
  key_id: Type.String({ description: 'Stays the same through rotations.' }),
  project_id: Type.String({ description: 'Project of the key; an account has one.' }),
  name: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Name for people.' }),
  scopes: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'What the key may do; null means all modules.',
  }),
  status: Type.Enum(['active', 'rotating', 'revoked', 'expired'], {
    description: '`rotating` while an earlier secret is still valid beside the current one.',
  }),
  prefix: Type.String({ description: 'First characters of the current secret, to recognise it by.' }),
  last4: Type.String({ description: 'Last four characters of the current secret.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the key was made.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When the record last changed.' }),
  last_used_at: instantOrNull('When the key was last used, to the minute; null when never.'),
  expires_at: instantOrNull('When the key stops working; null when never.'),
  rotating_until: instantOrNull('When the last earlier secret stops working; null unless rotating.'),
  revoked_at: instantOrNull('When the key was revoked; null when it is not.'),
  revoked_reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: '`requested` or `confirmed_leak`; null when the key is not revoked.',
  }),
  flagged_at: instantOrNull('When a leak was last suspected without being confirmed; null when never.'),
  spend_cap_usd: usdOrNull('Most that the key may spend in spend_cap_period; null: no cap.'),
  spend_cap_period: Type.Unsafe<'total' | 'daily' | 'monthly' | null>({
    type: ['string', 'null'],
    enum: ['total', 'daily', 'monthly', null],
    description: 'What the cap is for; null without one.',
  }),
  spend_used_usd: usdOrNull('What the key has spent of its cap in the current window; null without a cap.'),
  spend_held_usd: usdOrNull('What is held against the cap for running work; null without a cap.'),
  spend_window_end: instantOrNull(
    'When spending counts from zero again; null without a cap, and when it is for all time.',
  ),
};

export const keySchema = Type.Object(keyFields, { title: 'ApiKey' });

export const keyWithSecretSchema = Type.Object(
  { ...keyFields, key_secret: keySecretField, secret: secretField },
  { title: 'ApiKeyWithSecret' },
);

/** An amount that a caller sent as nano-USD. Throws VALIDATION_FAILED for one that is finer. */
export function nanosField(param: string, amount: number | null): bigint | null {
  if (amount === null) return null;
  const nanos = nanosOfUsd(amount);
  if (nanos === null)
    throw invalidField(param, 'multipleOf', `${param} must be at least 0 and a multiple of 0.000000001 USD.`);
  return nanos;
}
