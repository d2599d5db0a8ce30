import Type from 'typebox';
import { findAccount } from '../../../core/accounts/accounts.ts';
import { readBurstSeconds, type Tier, tierLimits } from '../../../core/accounts/tiers.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import type { Offer } from '../../../manifest/offer.ts';
import type { AccountState } from '../state.ts';

const count = (description: string) => Type.Integer({ description });

/** `limits`: those that modules bring. */
export const tier = ({ limits }: Offer) =>
  defineCapability<AccountState>()({
    id: 'account.tier',
    method: 'GET',
    path: '/v1/account/tier',
    summary: 'Shows the tier of the account and its limits.',
    description:
      'The tier, and how many calls and resources it allows. consume, ack, nack and extend are never limited by rate.',
    input: Type.Object({}),
    output: Type.Object({
      tier: Type.Enum(['standard', 'pro', 'enterprise'], { description: 'Tier of the account.' }),
      limits: Type.Object({
        free_reads_per_second: count('Sustained rate of free read calls, per process of the service.'),
        free_reads_burst: count('Free read calls that may come at once.'),
        management_writes_per_minute: count('Rate of free writes, per process of the service.'),
        requests_in_flight: count('Calls that may run at the same time; waiting consumes are not counted.'),
        keys: count('API keys that are neither revoked nor expired.'),
        webhooks: count('Webhook registrations.'),
        ...mapValues(limits, ({ description }) => count(description)),
      }),
    }),
    price: 'free',
    scope: 'read',
    idempotent: false,
    errors: [],
    events: [],
    examples: [{ title: 'Tier and limits', input: {} }],
    async run({ ctx }) {
      const account = await findAccount(ctx.core.db, ctx.accountId);
      const current = account?.tier ?? ctx.tier;
      return {
        data: { tier: current, limits: { ...ownLimits(current), ...mapValues(limits, (limit) => limit[current]) } },
      };
    },
  });

function ownLimits(current: Tier) {
  const limits = tierLimits[current];
  return {
    free_reads_per_second: limits.readsPerSecond,
    free_reads_burst: limits.readsPerSecond * readBurstSeconds,
    management_writes_per_minute: limits.writesPerMinute,
    requests_in_flight: limits.inFlightMax,
    keys: limits.keysMax,
    webhooks: limits.webhooksMax,
  };
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, of: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]));
}
