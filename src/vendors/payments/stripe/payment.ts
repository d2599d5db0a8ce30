// Reads the state of a payment at Stripe, with its refunds and disputes: from a checkout session, or from the payment intent of a charge.
import type Stripe from 'stripe';
import type { DisputeState, PaymentState, RefundState, SavedMethod } from '../port.ts';
import { failureCode } from './errors.ts';

type Intent = Stripe.PaymentIntent;
/** What Stripe gives for an object that was to come along. */
type Expanded<T> = T | string | null | undefined;

const LIST_MAX = 100;
const INTENT_PARTS = ['payment_method', 'review'];
const SESSION_PARTS = [
  ...INTENT_PARTS.map((part) => `payment_intent.${part}`),
  'setup_intent.payment_method',
  'subscription.default_payment_method',
];

/** The object of an expanded field; null when there is none. */
export function objectOf<T extends object>(field: Expanded<T>): T | null {
  if (typeof field === 'string') throw new Error('Stripe did not bring along what it was asked for');
  return field ?? null;
}

/** The payment of `cs_…` (a checkout) or `pi_…` (a charge). */
export async function readPayment(stripe: Stripe, ref: string): Promise<PaymentState> {
  if (ref.startsWith('pi_')) {
    const intent = await stripe.paymentIntents.retrieve(ref, { expand: INTENT_PARTS });
    return withReturns(stripe, intentState(intent));
  }
  const session = await stripe.checkout.sessions.retrieve(ref, { expand: SESSION_PARTS });
  return withReturns(stripe, sessionState(session));
}

/** A charge that nobody can confirm any more: what is not paid, and not on its way, has failed. */
export function intentState(intent: Intent): PaymentState {
  const paid = paidStatus(intent);
  const error = intent.last_payment_error;
  const why = failureCode(error) ?? (intent.status === 'requires_action' ? 'authentication_required' : intent.status);
  return {
    ref: intent.id,
    status: paid ?? 'failed',
    amountMinor: paid === null ? intent.amount : intent.amount_received || intent.amount,
    currency: intent.currency.toUpperCase(),
    failureCode: paid === null ? why : null,
    paymentRef: paid === null ? null : intent.id,
    ...nothingElse,
  };
}

const nothingElse = { method: null, subscriptionRef: null, refunds: [], disputes: [] } as const;

/** Null: no money came, nor is it on its way. */
function paidStatus({ status, review }: Intent): 'paid' | 'review' | 'processing' | null {
  if (status === 'processing' || status === 'requires_capture') return 'processing';
  if (status !== 'succeeded') return null;
  return objectOf<Stripe.Review>(review)?.open === true ? 'review' : 'paid';
}

function sessionState(session: Stripe.Checkout.Session): PaymentState {
  const intent = objectOf<Intent>(session.payment_intent);
  const subscription = objectOf<Stripe.Subscription>(session.subscription);
  const paid = intent === null ? null : paidStatus(intent);
  const status = statusOf(session, intent, paid);
  const arrived = status === 'paid' || status === 'review' || status === 'processing';
  return {
    ref: session.id,
    status,
    amountMinor: (arrived ? intent?.amount_received : 0) || (session.amount_total ?? 0),
    currency: (intent?.currency ?? session.currency ?? '').toUpperCase(),
    failureCode: arrived ? null : failureCode(intent?.last_payment_error ?? null),
    paymentRef: arrived ? (intent?.id ?? null) : null,
    method: arrived ? keptMethod(session, intent, subscription) : null,
    subscriptionRef: subscription?.id ?? null,
    refunds: [],
    disputes: [],
  };
}

function statusOf(
  { status, payment_status }: Stripe.Checkout.Session,
  intent: Intent | null,
  paid: ReturnType<typeof paidStatus>,
): PaymentState['status'] {
  // Money that arrived counts, whatever became of the page.
  if (paid !== null) return paid;
  if (status === 'expired') return 'expired';
  if (status !== 'complete') return 'open';
  // A setup, or a subscription, whose first invoice Stripe has collected.
  if (intent === null) return payment_status === 'unpaid' ? 'processing' : 'paid';
  return 'failed';
}

function keptMethod(
  session: Stripe.Checkout.Session,
  intent: Intent | null,
  subscription: Stripe.Subscription | null,
): SavedMethod | null {
  const ofIntent = intent?.setup_future_usage === 'off_session' ? intent.payment_method : null;
  const setup = objectOf<Stripe.SetupIntent>(session.setup_intent);
  const kept = ofIntent ?? setup?.payment_method ?? subscription?.default_payment_method;
  const method = objectOf<Stripe.PaymentMethod>(kept);
  return method === null ? null : savedMethod(method);
}

/** Nothing of a card beyond brand, last digits and end. */
export function savedMethod({ id, type, card, ...of }: Stripe.PaymentMethod): SavedMethod {
  const last4 = card?.last4 ?? of.us_bank_account?.last4 ?? of.sepa_debit?.last4 ?? null;
  return {
    ref: id,
    type,
    brand: card?.brand ?? null,
    last4,
    expMonth: card?.exp_month ?? null,
    expYear: card?.exp_year ?? null,
  };
}

async function withReturns(stripe: Stripe, state: PaymentState): Promise<PaymentState> {
  return state.paymentRef === null ? state : { ...state, ...(await returnsOf(stripe, state.paymentRef)) };
}

/** What went back of the payment `pi_…`. */
export async function returnsOf(
  stripe: Stripe,
  paymentRef: string,
): Promise<Pick<PaymentState, 'refunds' | 'disputes'>> {
  const payment = { payment_intent: paymentRef, limit: LIST_MAX };
  const [refunds, disputes] = await Promise.all([stripe.refunds.list(payment), stripe.disputes.list(payment)]);
  return {
    refunds: refunds.data.map(refundState),
    disputes: disputes.data.toSorted((a, b) => a.created - b.created).flatMap(disputeState),
  };
}

export function refundState({ id, status, amount, metadata }: Stripe.Refund): RefundState {
  const ended = status === 'succeeded' ? 'succeeded' : 'failed';
  const isPending = status === 'pending' || status === 'requires_action';
  return { ref: id, id: metadata?.id ?? null, status: isPending ? 'pending' : ended, amountMinor: amount };
}

/** An inquiry, and a dispute that was prevented, keep no money back. */
function disputeState({ id, status, amount }: Stripe.Dispute): DisputeState[] {
  if (status.startsWith('warning_') || status === 'prevented') return [];
  const isLost = status === 'lost' || status.startsWith('appeal_');
  return [{ ref: id, status: status === 'won' ? 'won' : isLost ? 'lost' : 'open', amountMinor: amount }];
}
