import Type from 'typebox';
import { decodeCursor, encodeCursor } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { JsonText } from '../../../../lib/json-text.ts';
import { Problem } from '../../../../problems/problem.ts';
import { problem } from '../../problems.ts';

interface Part {
  readonly kind: string;
  /** That shows it, to the caller as to anybody: so nothing comes out here that it would not show. */
  readonly capability: string;
  /** `pages`: it takes a cursor; `list`: it shows all; `one`: it shows one record. */
  readonly shows: 'one' | 'list' | 'pages';
}

const one = (kind: string, capability: string): Part => ({ kind, capability, shows: 'one' });
const pages = (kind: string, capability: string): Part => ({ kind, capability, shows: 'pages' });

/** In the order of the export. */
const parts: readonly Part[] = [
  one('account', 'account.get'),
  one('balance', 'account.balance'),
  one('budget', 'account.budget.get'),
  one('autorecharge', 'account.autorecharge.get'),
  one('subscription', 'account.subscription.get'),
  pages('key', 'account.keys.list'),
  pages('webhook', 'account.webhooks.list'),
  { kind: 'payment_method', capability: 'account.payment_method.list', shows: 'list' },
  pages('topup', 'account.topup.list'),
  pages('ledger_entry', 'account.ledger.list'),
  pages('event', 'account.events.list'),
  one('usage', 'account.usage'),
];

export const exportAccount = defineCapability()({
  method: 'GET',
  path: '/v1/account/export',
  summary: 'Exports all records of the account itself, page by page.',
  description:
    'Everything that the module account keeps, as its operations show it: account, balance, budget, keys, webhooks, payments, ledger, ' +
    'events, usage. No secrets. A key gets the kinds that it may read by themselves. Follow next_cursor to the end; a page holds ' +
    'records of one kind, or none.',
  keywords: ['gdpr data export', 'download account data', 'takeout backup of records'],
  input: Type.Object({ cursor: cursorField, limit: limitField }),
  output: pageOf(
    Type.Object({
      kind: Type.Enum(
        parts.map(({ kind }) => kind),
        { description: 'What it is.' },
      ),
      record: Type.Unsafe<object>({ type: 'object', description: 'As the operation for this kind shows it.' }),
    }),
  ),
  examples: [{ title: 'The first page', input: {}, expect: { has_more: true } }],
  async run({ ctx, input: { cursor, limit } }) {
    const { at, within } = beginningOf(ctx, cursor);
    const part = parts[at] as Part;
    const { records, more } = await recordsOf(ctx, part, part.shows === 'pages' ? { limit, cursor: within } : {});
    const next = more === null ? cursorTo(ctx, at + 1) : cursorTo(ctx, at, more);
    const items = records.map((record) => ({ kind: part.kind, record }));
    return { data: { items, next_cursor: next, has_more: next !== null } };
  },
});

interface Records {
  readonly records: readonly object[];
  /** Cursor of the next page of the same kind. */
  readonly more: string | null;
}

/** None where the caller may not see them. */
async function recordsOf(ctx: CallContext, { capability, shows }: Part, input: object): Promise<Records> {
  try {
    const { data } = await ctx.invoke(capability, { ...input });
    const shown = data instanceof JsonText ? JSON.parse(data.text) : data;
    if (shows === 'one') return { records: [shown], more: null };
    return { records: shown.items, more: shown.next_cursor ?? null };
  } catch (error) {
    if (error instanceof Problem && error.code === 'INSUFFICIENT_SCOPE') return { records: [], more: null };
    throw error;
  }
}

interface Beginning {
  /** Which part. */
  readonly at: number;
  /** Cursor of the part's own list. */
  readonly within?: string;
}

/** Where the page begins. Throws INVALID_CURSOR. */
function beginningOf(ctx: CallContext, cursor: string | undefined): Beginning {
  if (cursor === undefined) return { at: 0 };
  const [kind, within] = decodeCursor(ctx.core.secrets, [ctx.accountId, ctx.capability], cursor);
  const at = parts.findIndex((part) => part.kind === kind);
  if (at === -1) throw problem('INVALID_CURSOR', { param: 'cursor' });
  return within === undefined ? { at } : { at, within: String(within) };
}

/** Null: there is no such part. */
function cursorTo(ctx: CallContext, at: number, ...within: readonly string[]): string | null {
  const part = parts[at];
  if (part === undefined) return null;
  return encodeCursor(ctx.core.secrets, [ctx.accountId, ctx.capability], [part.kind, ...within]);
}
