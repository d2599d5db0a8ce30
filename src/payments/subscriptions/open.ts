// Opens a subscription: the row first, then the provider's page outside any transaction under the id of the row, then the link. If one is
// already open, it is answered again, whoever asks: an account has one page at a time.

import { openTurn } from '../../core/background/turns.ts';
import type { Enter } from '../../core/callers/enter.ts';
import type { Tier } from '../../core/callers/tiers.ts';
import { clockNow } from '../../core/database-clock.ts';
import { newId } from '../../lib/ids.ts';
import { DAY_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { type PaymentProvider, PaymentProviderError } from '../../vendors/payments/port.ts';
import { FIRST_CHECK_MS } from '../at-provider.ts';
import { keepRef } from '../refs.ts';
import { requireProvider } from '../require-provider.ts';
import { failureOf } from '../topups/create.ts';
import { applyAttempt, SUBSCRIPTIONS_WORK } from './apply.ts';
import { checkSubscription } from './check.ts';
import { isLive, see } from './machine.ts';
import { linkSubscription, openCheckout, type SubscriptionCore } from './page.ts';
import {
  currentSubscription,
  findSubscription,
  insertSubscription,
  type NewSubscription,
  type SubscriptionRow,
} from './store.ts';

export interface SubscriptionOrder {
  readonly label: 'pro' | 'team' | 'enterprise';
  readonly tier: Tier;
  readonly priceNanos: bigint;
  readonly returnUrl: string | null;
  /** Of the account. */
  readonly fallbackTier: Tier;
}

const LIFETIME_MS = DAY_MS;

/**
 * Begins a subscription and answers it with its link; the one that is open, where one is. Throws SERVICE_UNAVAILABLE (`payments_off`), STATE_CONFLICT when one runs,
 * VENDOR_ERROR and VENDOR_DOWN.
 */
export async function openSubscription(
  core: SubscriptionCore,
  accountId: string,
  enter: Enter,
  order: SubscriptionOrder,
): Promise<SubscriptionRow> {
  const provider = requireProvider(core.payments);
  const open = await currentSubscription(core.db, accountId);
  // Of a page that is out of date it is learned first whether somebody paid at it.
  if (open?.status === 'pending' && open.expires_at <= (await clockNow(core.db)))
    await checkSubscription(core, accountId, open.subscription_id);
  const row = await begin(core, provider, accountId, enter, order);
  if (row.checkout_url !== null) return row;
  try {
    return await linkSubscription(core, row, await openCheckout(core, provider, row));
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    // What may have been made all the same is asked for again by the checks, or by the next call.
    if (error.kind !== 'unknown') await abandon(core, row);
    core.log.warn({ err: error, subscription: row.subscription_id }, 'a page for a subscription could not be made');
    throw failureOf(error);
  }
}

function begin(
  { db }: SubscriptionCore,
  provider: PaymentProvider,
  accountId: string,
  enter: Enter,
  order: SubscriptionOrder,
): Promise<SubscriptionRow> {
  return db.transaction(async (tx) => {
    const { nowMs } = await enter(tx);
    const current = await currentSubscription(tx, accountId);
    if (current?.status === 'pending') return current;
    if (current !== null && isLive(current))
      throw problem('STATE_CONFLICT', {
        message: `The account has a subscription for ${current.label}: cancel it before another one begins.`,
        detail: 'subscription_exists',
      });
    const row: NewSubscription = {
      account_id: accountId,
      subscription_id: newId('bsub_', nowMs),
      tier: order.tier,
      label: order.label,
      price_nanos: order.priceNanos,
      provider: provider.name,
      test_mode: provider.testMode,
      return_url: order.returnUrl,
      fallback_tier: order.fallbackTier,
      created_at: nowMs,
      expires_at: nowMs + LIFETIME_MS,
    };
    const id = row.subscription_id;
    const dueMs = nowMs + FIRST_CHECK_MS;
    await Promise.all([
      insertSubscription(tx, row, dueMs),
      keepRef(tx, id, { accountId, kind: 'subscription', id }),
      openTurn(tx, accountId, SUBSCRIPTIONS_WORK, dueMs, { later: true }),
    ]);
    return (await findSubscription(tx, accountId, id)) as SubscriptionRow;
  });
}

async function abandon({ db }: SubscriptionCore, row: SubscriptionRow): Promise<void> {
  const { account_id: accountId, subscription_id: id, attempt } = row;
  const nothing = { checkout: null, subscription: null, fulfilled: false };
  await db.transaction((tx) =>
    applyAttempt(tx, { accountId, id, attempt }, (before, moment) => see(before, nothing, moment)),
  );
}
