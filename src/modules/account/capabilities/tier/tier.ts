import Type from 'typebox';
import { findAccount } from '../../../../core/accounts/accounts.ts';
import type { CountedLimit } from '../../../../core/callers/tiers.ts';
import { readBurstSeconds, type Tier, tierLimits } from '../../../../core/callers/tiers.ts';
import { countKeys } from '../../../../core/keys/store.ts';
import type { Queryable } from '../../../../db/database.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import type { Offer } from '../../../../kit/offer.ts';
import { countRegistrations } from '../../../../webhooks/registrations/store.ts';
import { usdOrNull } from '../../list-fields.ts';
import { targets, upgradeOptions } from './offers.ts';

const count = (description: string) => Type.Integer({ description });

/** `limits`: those that modules bring. */
export const tier = ({ limits }: Offer) =>
  defineCapability()({
    method: 'GET',
    path: '/v1/account/tier',
    summary: 'Shows the tier of the account, its limits, and what of them is used.',
    description:
      'The tier, how many calls and resources it allows, how many resources there are, and the tiers above it. consume, ack, nack and extend ' +
      'are never limited by rate. What exceeds a limit, after a downgrade, stays and cannot grow.',
    keywords: ['plan limits', 'quotas', 'rate limits of the account', 'how many may i have'],
    input: Type.Object({}),
    output: Type.Object({
      tier: Type.Enum(['standard', 'pro', 'enterprise'], { description: 'Tier of the account.' }),
      limits: Type.Object({
        free_reads_per_second: count('Sustained rate of free read calls, per process of the service.'),
        free_reads_burst: count('Free read calls that may come at once.'),
        management_writes_per_minute: count('Rate of free writes, per process of the service.'),
        object_deletes_per_second: count('Rate of calls that delete stored objects, per process of the service.'),
        webhooks_received_per_second: count('Rate of requests to webhook receivers, per process of the service.'),
        requests_in_flight: count('Calls that may run at the same time; waiting consumes are not counted.'),
        long_calls: count(
          'Pushes, webhook deliveries and scheduled runs with a timeout_seconds above 15 that may be under way at the same time; more wait.',
        ),
        keys: count('API keys that are neither revoked nor expired.'),
        webhooks: count('Webhook registrations.'),
        ...mapValues(limits, ({ description }) => count(description)),
      }),
      usage: Type.Object({
        keys: count('API keys that are neither revoked nor expired.'),
        webhooks: count('Webhook registrations.'),
        ...mapValues(limits, ({ description }) => count(description)),
      }),
      upgrade_options: Type.Array(
        Type.Object({
          target: Type.Enum([...targets], { description: 'What account.tier.upgrade takes.' }),
          tier: Type.Enum(['pro', 'enterprise'], { description: 'Tier that it brings.' }),
          price_usd: usdOrNull('What a month costs, USD; null: the operator gives it.'),
          status: Type.Enum(['requires_payment', 'contact_sales'], { description: 'How it is got.' }),
        }),
        { description: 'Tiers above this one.' },
      ),
    }),
    examples: [{ title: 'Tier and limits', input: {} }],
    async run({ ctx }) {
      const account = await findAccount(ctx.core.db, ctx.accountId);
      const current = account?.tier ?? ctx.tier;
      return {
        data: {
          tier: current,
          limits: { ...ownLimits(current), ...mapValues(limits, (limit) => limit[current]) },
          usage: await usageOf(ctx.core.db, ctx.accountId, limits),
          upgrade_options: upgradeOptions(ctx.core.payments, current),
        },
      };
    },
  });

async function usageOf(db: Queryable, accountId: string, limits: Readonly<Record<string, CountedLimit>>) {
  const counters: [string, CountedLimit['used']][] = [
    ['keys', countKeys],
    ['webhooks', countRegistrations],
    ...Object.entries(limits).map(([name, { used }]): [string, CountedLimit['used']] => [name, used]),
  ];
  const counts = counters.map(async ([name, used]): Promise<[string, number]> => [name, await used(db, accountId)]);
  return Object.fromEntries(await Promise.all(counts));
}

function ownLimits(current: Tier) {
  const limits = tierLimits[current];
  return {
    free_reads_per_second: limits.readsPerSecond,
    free_reads_burst: limits.readsPerSecond * readBurstSeconds,
    management_writes_per_minute: limits.writesPerMinute,
    object_deletes_per_second: limits.deletesPerSecond,
    webhooks_received_per_second: limits.receivedPerSecond,
    requests_in_flight: limits.inFlightMax,
    long_calls: limits.longCallsMax,
    keys: limits.keysMax,
    webhooks: limits.webhooksMax,
  };
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, of: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]));
}
