import Type from 'typebox';
import { findAccount } from '../../../../core/accounts/accounts.ts';
import { isTierAtLeast } from '../../../../core/callers/tiers.ts';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instantOrNull, textOrNull } from '../../../../kit/fields.ts';
import { iso } from '../../../../lib/time.ts';
import { requireProvider } from '../../../../payments/require-provider.ts';
import { openSubscription } from '../../../../payments/subscriptions/open.ts';
import { checkReturnUrl, returnUrlField } from '../../return-url.ts';
import { targets, tierOf } from './offers.ts';

export const tierUpgrade = defineCapability()({
  method: 'POST',
  path: '/v1/account/tier/upgrade',
  summary: 'Begins a subscription for a higher tier: answers a link where a person pays.',
  description:
    'Nothing changes by the call. Hand checkout_url to a person, who pays the first month on the hosted page within a day; then ' +
    'subscription.activated and tier.upgraded are told and the limits of the tier hold. An account has one open page: a second call ' +
    'answers the same, with the target it was opened for. A tier that is held already is `active`; one without a price is for the ' +
    'operator to give, `contact_sales`.',
  keywords: ['upgrade plan', 'buy subscription', 'go pro', 'higher limits'],
  input: Type.Object({
    target: Type.Enum([...targets], { description: '`pro`; `team`, which is pro under that name; or `enterprise`.' }),
    return_url: Type.Optional(returnUrlField),
  }),
  output: Type.Object({
    target: Type.Enum([...targets], { description: 'What the page is for.' }),
    tier_after: Type.Enum(['pro', 'enterprise'], { description: 'Tier of the account once it is paid.' }),
    status: Type.Enum(['requires_payment', 'active', 'contact_sales'], { description: 'What is left to be done.' }),
    checkout_url: textOrNull('Hosted page where a person pays; null where nothing is to be paid.'),
    expires_at: instantOrNull('Until when the link can be used.'),
  }),
  gates: ['email'],
  errors: ['STATE_CONFLICT', 'VENDOR_ERROR', 'VENDOR_DOWN'],
  examples: [
    {
      title: 'To pro, as a team',
      input: { target: 'team', return_url: 'https://example.org/thanks' },
      expect: { target: 'team', tier_after: 'pro', status: 'requires_payment' },
    },
    {
      title: 'A tier that has no price',
      input: { target: 'enterprise' },
      expect: { status: 'contact_sales', checkout_url: null },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    const { target } = input;
    const returnUrl = checkReturnUrl(input.return_url ?? null, core.baseUrl);
    const account = await findAccount(core.db, accountId);
    const current = account?.tier ?? ctx.tier;
    const tier = tierOf(target);
    const answer = { target, checkout_url: null, expires_at: null };
    if (current !== 'standard' && isTierAtLeast(current, tier))
      return { data: { ...answer, tier_after: current, status: 'active' as const } };
    const priceNanos = core.payments.tierPricesNanos[tier];
    if (priceNanos === undefined) return { data: { ...answer, tier_after: tier, status: 'contact_sales' as const } };
    requireProvider(core.payments);
    const order = { label: target, tier, priceNanos, returnUrl, fallbackTier: current };
    return runOutside(ctx, async (enter) => {
      const row = await openSubscription(core, accountId, enter, order);
      return {
        target: row.label,
        tier_after: row.tier,
        status: 'requires_payment',
        checkout_url: row.checkout_url,
        expires_at: iso(row.expires_at),
      };
    });
  },
});
