// What alerts watch of an account: what is spent, and webhooks that fail.
import Type, { type Static } from 'typebox';
import { startOf } from '../../core/usage/period.ts';
import { usageOf } from '../../core/usage/read.ts';
import { type AlertLook, type AlertSeries, alertSource, lookAtEach } from '../../kit/alert-source.ts';
import { invalidField } from '../../problems/problem.ts';
import { failingRegistrations, findRegistration } from '../../webhooks/registrations/store.ts';
import { problem } from './problems.ts';
import type { AccountState } from './state.ts';

const PAST_MS = 10_000;
const periods = ['hour', 'day', 'month'] as const;

const spendSchema = Type.Object(
  {
    capability: Type.Optional(Type.String({ maxLength: 128, description: 'Of this capability alone.' })),
    key_id: Type.Optional(Type.String({ maxLength: 64, description: 'Of this key alone.' })),
    period: Type.Optional(
      Type.Enum([...periods], {
        default: 'day',
        description: 'Since the beginning of this hour, day or month, UTC; day when not sent.',
      }),
    ),
  },
  { description: 'What was spent, USD. by: capability or key_id.' },
);

type Spend = Static<typeof spendSchema>;

export const spendSource = alertSource<AccountState>()({
  name: 'spend',
  capability: 'account.usage',
  by: ['capability', 'key_id'],
  schema: spendSchema,
  async check({ core }, _ctx, { when: { capability }, by }) {
    if (by.length > 1)
      throw invalidField('by', 'maxItems', 'Spending is told by capability or by key_id, not by both.');
    if (capability === undefined || core.knownScopes.kinds.has(capability)) return [];
    return [`when.spend.capability: there is no capability ${capability} here, so nothing is ever spent on it.`];
  },
  look: readSpend,
  past: (state, looks) => lookAtEach(looks, performance.now() + PAST_MS, (each) => readSpend(state, each)),
});

async function readSpend(
  { core }: AccountState,
  { accountId, when, by, atMs }: AlertLook<Spend>,
): Promise<readonly AlertSeries[]> {
  const { capability = null, key_id: keyId = null, period = 'day' } = when;
  const bounds = { fromMs: startOf(period, atMs), toMs: atMs + 1 };
  const usage = await usageOf(core.db, accountId, bounds, { capability, keyId, consoleCalls: 'all' });
  if (by[0] === 'capability')
    return usage.by_capability.map((row) => ({ labels: { capability: row.capability }, value: row.spend_usd }));
  if (by[0] === 'key_id') return usage.by_key.map((row) => ({ labels: { key_id: row.key_id }, value: row.spend_usd }));
  return [{ labels: {}, value: usage.spend_usd }];
}

export const webhookSource = alertSource<AccountState>()({
  name: 'webhook',
  capability: 'account.webhooks.list',
  by: ['webhook_id'],
  errors: ['WEBHOOK_NOT_FOUND'],
  schema: Type.Object(
    { webhook_id: Type.Optional(Type.String({ maxLength: 64, description: 'This one alone.' })) },
    {
      description:
        'Webhooks whose deliveries fail, or that were switched off for it: how many, of all or 1 of one. by: webhook_id.',
    },
  ),
  async check({ core }, { accountId }, { when: { webhook_id: id } }) {
    if (id === undefined || (await findRegistration(core.db, core.secrets, accountId, id)) !== null) return [];
    throw problem('WEBHOOK_NOT_FOUND', { param: 'webhook_id' });
  },
  async look({ core }, { accountId, when: { webhook_id: id = null }, by }) {
    const failing = await failingRegistrations(core.db, accountId, id);
    if (by.length === 0) return [{ labels: {}, value: failing.length }];
    return failing.map((webhookId) => ({ labels: { webhook_id: webhookId }, value: 1 }));
  },
});
