// Purchase options of tiers: `team` is a label of pro.
import type { Tier } from '../../../../core/callers/tiers.ts';
import { isTierAtLeast } from '../../../../core/callers/tiers.ts';
import { usd } from '../../../../lib/money.ts';
import type { Payments } from '../../../../payments/terms.ts';

export const targets = ['pro', 'team', 'enterprise'] as const;
export type Target = (typeof targets)[number];

export function tierOf(target: Target): 'pro' | 'enterprise' {
  return target === 'team' ? 'pro' : target;
}

/** Those above the tier. */
export function upgradeOptions({ provider, tierPricesNanos }: Payments, current: Tier) {
  return targets
    .filter((target) => !isTierAtLeast(current, tierOf(target)))
    .map((target) => {
      const price = tierPricesNanos[tierOf(target)];
      return {
        target,
        tier: tierOf(target),
        price_usd: price === undefined ? null : usd(price),
        status: price === undefined || provider === null ? 'contact_sales' : 'requires_payment',
      };
    });
}
