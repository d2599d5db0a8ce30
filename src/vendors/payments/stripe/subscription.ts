// Reads the state of a subscription at Stripe.
import type Stripe from 'stripe';
import { type InvoiceState, returnedMoney, type SubscriptionState } from '../port.ts';
import { failureCode } from './errors.ts';
import { objectOf, returnsOf } from './payment.ts';

const INVOICE = 'latest_invoice';
const PARTS = [INVOICE, `${INVOICE}.payments.data.payment.payment_intent`];

const statuses: Readonly<Record<string, SubscriptionState['status']>> = {
  incomplete: 'pending',
  trialing: 'active',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  paused: 'past_due',
  canceled: 'cancelled',
  incomplete_expired: 'cancelled',
};

export async function readSubscription(stripe: Stripe, ref: string): Promise<SubscriptionState> {
  const subscription = await stripe.subscriptions.retrieve(ref, { expand: PARTS });
  const [item] = subscription.items.data;
  const status = statuses[subscription.status];
  if (item === undefined || status === undefined)
    throw new Error(`a subscription at Stripe is ${subscription.status}, with ${subscription.items.data.length} items`);
  const invoice = objectOf<Stripe.Invoice>(subscription.latest_invoice);
  return {
    ref: subscription.id,
    status,
    currentPeriodStartMs: item.current_period_start * 1_000,
    currentPeriodEndMs: item.current_period_end * 1_000,
    // Set for an end at any later moment, also one that was set at the dashboard.
    cancelAtPeriodEnd: status !== 'cancelled' && (subscription.cancel_at_period_end || subscription.cancel_at !== null),
    lastInvoice: invoice === null ? null : await withReturns(stripe, invoiceOf(invoice)),
  };
}

function invoiceOf(invoice: Stripe.Invoice): InvoiceState {
  const payment = invoice.payments?.data.at(-1)?.payment;
  const intent = objectOf<Stripe.PaymentIntent>(payment?.payment_intent);
  const code = failureCode(intent?.last_payment_error ?? null);
  const isOpen = invoice.status === 'draft' || (invoice.status === 'open' && invoice.attempt_count === 0);
  const status = invoice.status === 'paid' ? 'paid' : isOpen ? 'open' : 'failed';
  return {
    ref: invoice.id,
    status,
    currency: invoice.currency.toUpperCase(),
    atMs: invoice.created * 1_000,
    amountMinor: status === 'paid' ? invoice.amount_paid : invoice.amount_due,
    nextAttemptMs: invoice.next_payment_attempt === null ? null : invoice.next_payment_attempt * 1_000,
    failureCode: status === 'failed' ? code : null,
    paymentRef: status === 'paid' ? (intent?.id ?? null) : null,
    payUrl: invoice.status === 'open' && !isOpen ? (invoice.hosted_invoice_url ?? null) : null,
    refundedMinor: 0,
    dispute: null,
  };
}

async function withReturns(stripe: Stripe, invoice: InvoiceState): Promise<InvoiceState> {
  if (invoice.paymentRef === null) return invoice;
  return { ...invoice, ...returnedMoney(await returnsOf(stripe, invoice.paymentRef)) };
}
