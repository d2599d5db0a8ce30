// The provider's page of a subscription, created under the id of its row: repeated calls meet the same page.

import { lockCaller } from '../../core/callers/lock.ts';
import type { Checkout, PaymentProvider } from '../../vendors/payments/port.ts';
import { FIRST_CHECK_MS } from '../at-provider.ts';
import { customerOf } from '../customers.ts';
import { minorOfNanos } from '../money.ts';
import { keepRef } from '../refs.ts';
import { returnAddress } from '../return-address.ts';
import type { PaymentCore } from '../topups/create.ts';
import { findSubscription, type SubscriptionRow, saveSubscription } from './store.ts';

export type SubscriptionCore = PaymentCore;

/** The provider's page: made, or met again under the same id with the same words. Throws PaymentProviderError. */
export async function openCheckout(
  core: SubscriptionCore,
  provider: PaymentProvider,
  row: SubscriptionRow,
): Promise<Checkout> {
  const { account_id: accountId, subscription_id: id } = row;
  return provider.checkout({
    id,
    accountId,
    customer: await customerOf({ db: core.db, provider }, accountId, null),
    purpose: 'subscription',
    amountMinor: minorOfNanos(row.price_nanos, 10n ** 9n, 'USD'),
    currency: 'USD',
    description: `Tier ${row.label}, monthly`,
    saveMethod: true,
    returnUrl: returnAddress(core, id),
    expiresAtMs: row.expires_at,
    metadata: { account_id: accountId, id },
  });
}

/** Keeps the link. Answers the subscription as it is now. */
export function linkSubscription(
  { db }: SubscriptionCore,
  { account_id: accountId, subscription_id: id }: SubscriptionRow,
  checkout: Checkout,
): Promise<SubscriptionRow> {
  return db.transaction(async (tx) => {
    const nowMs = await lockCaller(tx, accountId);
    const row = await findSubscription(tx, accountId, id);
    if (row === null) throw new Error(`subscription ${id} is gone`);
    if (row.checkout_ref !== null) return row;
    const linked = { ...row, checkout_ref: checkout.ref, checkout_url: checkout.url, updated_at: nowMs };
    await saveSubscription(tx, linked, Math.max(nowMs, row.created_at + FIRST_CHECK_MS));
    await keepRef(tx, checkout.ref, { accountId, kind: 'subscription', id });
    return linked;
  });
}
