// Reads a subscription at the provider and applies the answer: on a hint, when the payer comes back, and by the schedule of nextCheckMs.
// First the provider is told of pending changes; the subscription stays due until it is.

import { openTurn } from '../../core/background/turns.ts';
import { clockNow } from '../../core/database-clock.ts';
import { type PaymentProvider, PaymentProviderError, type SubscriptionState } from '../../vendors/payments/port.ts';
import { providerOf, readPage } from '../at-provider.ts';
import { keepMethod } from '../methods/store.ts';
import { keepRef } from '../refs.ts';
import { applyAttempt, SUBSCRIPTIONS_WORK, type SubscriptionAttempt } from './apply.ts';
import { isLive, outlive, type Seen, see, type Wish } from './machine.ts';
import { linkSubscription, openCheckout, type SubscriptionCore } from './page.ts';
import { findSubscription, LEASE_MS, type SubscriptionRow, subscriptionDue } from './store.ts';

const UNREADABLE_MS = 86_400_000;
const READS_MAX = 3;

/** Reads the subscription and applies it. Answers it afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkSubscription(
  core: SubscriptionCore,
  accountId: string,
  id: string,
): Promise<SubscriptionRow | null> {
  // Who is overtaken by another attempt reads again, for that one may have read before.
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const attempt = await core.db.transaction(async (tx) => {
      const dueMs = (await clockNow(tx)) + LEASE_MS;
      await openTurn(tx, accountId, SUBSCRIPTIONS_WORK, dueMs, { later: true });
      return subscriptionDue.makeDue(tx, accountId, id, dueMs);
    });
    if (attempt === null || (await checkSubscriptionAttempt(core, { accountId, id, attempt })) !== null) break;
  }
  return findSubscription(core.db, accountId, id);
}

/** Null: another attempt has begun, and sees to it. */
export async function checkSubscriptionAttempt(
  core: SubscriptionCore,
  job: SubscriptionAttempt,
): Promise<SubscriptionRow | null> {
  const row = await findSubscription(core.db, job.accountId, job.id);
  if (row === null || row.attempt !== job.attempt) return null;
  const provider = providerOf(core.payments, row);
  if (provider === null) return passOver(core, row, job);
  const seen = await readSeen(core, provider, row);
  const method = seen.checkout?.method ?? null;
  const paymentRef = seen.subscription?.lastInvoice?.paymentRef ?? null;
  const after = await core.db.transaction(async (tx) => {
    const applied = await applyAttempt(tx, job, (before, moment) => see(before, seen, moment));
    if (applied !== null && isLive(applied) && method !== null)
      await keepMethod(tx, job.accountId, method, applied, applied.updated_at);
    // A message about what went back of it names the payment.
    if (paymentRef !== null) await keepRef(tx, paymentRef, { ...job, kind: 'subscription' });
    return applied;
  });
  if (after !== null) tellOperator(core, row, after);
  return after;
}

/** What only a person can see to. */
function tellOperator({ log }: SubscriptionCore, before: SubscriptionRow, after: SubscriptionRow): void {
  const { subscription_id: subscription, account_id: account, invoice_dispute: dispute } = after;
  const isNew = (name: 'invoice_at' | 'invoice_status' | 'invoice_dispute' | 'invoice_refunded_nanos') =>
    before[name] !== after[name];
  if (after.invoice_status === 'review' && (isNew('invoice_at') || isNew('invoice_status')))
    log.error(
      { subscription, account },
      'something else than its price was paid for a subscription: it counts as not paid',
    );
  if (dispute !== null && isNew('invoice_dispute'))
    log.warn({ subscription, account, dispute }, 'the payment of a subscription is disputed');
  if (after.invoice_refunded_nanos > 0n && isNew('invoice_refunded_nanos'))
    log.warn({ subscription, account }, 'of the payment of a subscription something was paid back');
}

/** Of a provider that is not configured nothing can be learned. What was bought with test money ends where a live one is. */
function passOver(
  { db, payments }: SubscriptionCore,
  row: SubscriptionRow,
  job: SubscriptionAttempt,
): Promise<SubscriptionRow | null> {
  const isOutlived = row.test_mode && payments.provider?.testMode === false;
  return db.transaction(async (tx) => {
    if (isOutlived) return applyAttempt(tx, job, outlive);
    await subscriptionDue.setDue(tx, job, (await clockNow(tx)) + UNREADABLE_MS);
    return row;
  });
}

async function readSeen(core: SubscriptionCore, provider: PaymentProvider, row: SubscriptionRow): Promise<Seen> {
  if (row.subscription_ref !== null) {
    const found = await provider.readSubscription(row.subscription_ref);
    const subscription = row.wish === null ? found : await fulfil(provider, row, row.wish, found);
    return { checkout: null, subscription, fulfilled: row.wish !== null };
  }
  const checkout = await readPage(core, provider, row, async () => {
    const page = await openCheckout(core, provider, row);
    await linkSubscription(core, row, page);
    return page.ref;
  });
  const ref = checkout?.subscriptionRef ?? null;
  const subscription = ref === null ? null : await provider.readSubscription(ref);
  return { checkout, subscription, fulfilled: false };
}

/** Tells the provider, under a name of its own for each wish. What is so already, or cannot be any more, is done. */
async function fulfil(
  provider: PaymentProvider,
  row: SubscriptionRow,
  wish: Wish,
  found: SubscriptionState,
): Promise<SubscriptionState> {
  const isEnding = found.status === 'cancelled' || found.cancelAtPeriodEnd;
  const isDone = found.status === 'cancelled' || (wish === 'resume' ? !isEnding : wish === 'cancel_later' && isEnding);
  if (isDone) return found;
  const change = { id: `${row.subscription_id}_${row.wish_number}`, subscriptionRef: found.ref };
  try {
    if (wish === 'resume') return await provider.resumeSubscription(change);
    return await provider.cancelSubscription({ ...change, atPeriodEnd: wish === 'cancel_later' });
  } catch (error) {
    // Overtaken by its end at the provider's.
    if (error instanceof PaymentProviderError && error.kind === 'refused') {
      const now = await provider.readSubscription(found.ref);
      if (now.status === 'cancelled') return now;
    }
    throw error;
  }
}
