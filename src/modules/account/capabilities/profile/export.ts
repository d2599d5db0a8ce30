import Type from 'typebox';
import { JsonText } from '../../../../lib/json-text.ts';
import { defineCapability } from '../../../../manifest/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../manifest/fields.ts';
import { problem } from '../../problems.ts';
import type { AccountState } from '../../state.ts';

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

/** Where a page begins: a part, and within a list the cursor of that list. */
const CURSOR = /^([a-z_]+)(?:\.(.+))?$/s;

export const exportAccount = defineCapability<AccountState>()({
  id: 'account.export',
  method: 'GET',
  path: '/v1/account/export',
  summary: 'Exports all records of the account itself, page by page.',
  description:
    'Everything that the module account keeps, as its operations show it: account, balance, budget, keys, webhooks, payments, ledger, ' +
    'events, usage. No secrets. Follow next_cursor to the end; a page holds records of one kind.',
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
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: [],
  events: [],
  examples: [{ title: 'The first page', input: {}, expect: { has_more: true } }],
  async run({ ctx, input: { cursor, limit } }) {
    const [at, inner] = positionOf(cursor);
    const part = parts[at] as Part;
    const { data } = await ctx.invoke(part.capability, part.shows === 'pages' ? { limit, cursor: inner } : {});
    const shown = data instanceof JsonText ? JSON.parse(data.text) : data;
    const records: readonly object[] = part.shows === 'one' ? [shown] : shown.items;
    const more: string | null = part.shows === 'pages' ? shown.next_cursor : null;
    const following = parts[at + 1];
    const next = more === null ? (following?.kind ?? null) : `${part.kind}.${more}`;
    const items = records.map((record) => ({ kind: part.kind, record }));
    return { data: { items, next_cursor: next, has_more: next !== null } };
  },
});

function positionOf(cursor = parts[0]?.kind ?? ''): [at: number, inner: string | undefined] {
  const [, kind, inner] = CURSOR.exec(cursor) ?? [];
  const at = parts.findIndex((part) => part.kind === kind);
  if (at === -1 || (inner !== undefined && parts[at]?.shows !== 'pages'))
    throw problem('INVALID_CURSOR', { param: 'cursor' });
  return [at, inner];
}
