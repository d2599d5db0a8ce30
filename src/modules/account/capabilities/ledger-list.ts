import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { checkOrder, instantField as instantOf } from '../../../core/usage/period.ts';
import { ledgerEntries } from '../../../core/wallet/ledger/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, instant, limitField, pageOf, textOrNull } from '../../../kit/fields.ts';
import { boundField, capabilityFilter, keyFilter, usdField } from '../list-fields.ts';
import { ledgerKinds } from './ledger-kinds.ts';

const kindList = Object.entries(ledgerKinds)
  .map(([kind, { description }]) => `\`${kind}\` (${description})`)
  .join(', ');

const entrySchema = Type.Object(
  {
    entry_id: Type.String({ description: 'Grows with time; unique in the account.' }),
    batch_id: Type.String({ description: 'Entries of one commit share it.' }),
    kind: Type.String({ description: `One of: ${kindList}.` }),
    capability: textOrNull('What was called; null for credit.'),
    key_id: textOrNull('API key of the calls; null for credit.'),
    units: Type.Integer({ description: 'Billed units, such as messages or vectors.' }),
    price_version: textOrNull('Version of the price book.'),
    amount_usd: usdField('What it adds to the balance: negative for charges.'),
    balance_after_usd: usdField('Balance after it, held credit included.'),
    reference: textOrNull('The hold or grant it is about.'),
    source: textOrNull(
      'What credit came from: topup, recharge, subscription, signup, absorption (a merged account), restored (a refund or dispute that was reversed) or operator; null for other kinds.',
    ),
    created_at: instant('When it was booked.'),
  },
  { title: 'LedgerEntry' },
);

export const ledgerList = defineCapability()({
  method: 'GET',
  path: '/v1/account/ledger/list',
  summary: 'Lists the ledger of the wallet.',
  description:
    'Every change of the balance, newest first. Calls that were committed together are one entry for each capability and key. The ' +
    'amounts of all entries add up to the balance.',
  keywords: ['transactions', 'billing history', 'list of charges', 'invoice lines', 'statement'],
  input: Type.Object({
    cursor: cursorField,
    limit: limitField,
    from: Type.Optional(boundField('Only entries from then on.')),
    to: Type.Optional(boundField('Only entries before then.')),
    capability: Type.Optional(capabilityFilter),
    key_id: Type.Optional(keyFilter),
  }),
  output: pageOf(entrySchema),
  errors: ['INVALID_CURSOR'],
  examples: [
    { title: 'The newest entries', input: { limit: 5 } },
    {
      title: 'Charges for one capability since a date',
      input: { capability: 'queue.publish', from: '2026-10-01T00:00:00Z' },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const filter = {
      fromMs: instantOf('from', input.from),
      toMs: instantOf('to', input.to),
      capability: input.capability ?? null,
      keyId: input.key_id ?? null,
    };
    checkOrder(filter.fromMs, filter.toMs);
    const data = await listPage(ctx, input, {
      filters: Object.values(filter).map(String),
      read: (before, limit) => ledgerEntries(db, ctx.accountId, filter, before === null ? null : BigInt(before), limit),
      positionOf: (entry) => entry.entry_id,
    });
    return { data };
  },
});
