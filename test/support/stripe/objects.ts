// What Stripe keeps, as far as the service uses it: customers, checkouts, payments, what went back of them, subscriptions. The fields have
// the types of Stripe's package. Time is the double's own, in seconds.
import type Stripe from 'stripe';

type With<T, Parts> = Omit<T, keyof Parts> & Parts;
type Metadata = Stripe.Metadata;

export type Customer = Pick<Stripe.Customer, 'id' | 'object' | 'email' | 'metadata'>;
export type Method = With<
  Pick<Stripe.PaymentMethod, 'id' | 'object' | 'type'>,
  { customer: string | null; card: Pick<Stripe.PaymentMethod.Card, 'brand' | 'last4' | 'exp_month' | 'exp_year'> }
>;
export type Review = Pick<Stripe.Review, 'id' | 'object' | 'open'>;
export type IntentError = { code: string; decline_code?: string; message: string };
export type Intent = With<
  Pick<Stripe.PaymentIntent, 'id' | 'object' | 'amount' | 'amount_received' | 'currency' | 'status' | 'created'>,
  {
    customer: string | null;
    payment_method: string | null;
    review: string | null;
    setup_future_usage: 'off_session' | null;
    last_payment_error: IntentError | null;
    metadata: Metadata;
    /** Not Stripe's: when a slow payment arrives. */
    arrivesAt?: number;
  }
>;
export type SetupIntent = Pick<Stripe.SetupIntent, 'id' | 'object' | 'status' | 'metadata'> & {
  payment_method: string | null;
};
export type Session = With<
  Pick<
    Stripe.Checkout.Session,
    'id' | 'object' | 'mode' | 'status' | 'payment_status' | 'url' | 'amount_total' | 'currency' | 'expires_at'
  >,
  {
    customer: string | null;
    client_reference_id: string | null;
    payment_intent: string | null;
    setup_intent: string | null;
    subscription: string | null;
    success_url: string;
    metadata: Metadata;
    /** Not Stripe's: what was asked for beside. */
    asked: { metadata: Metadata; saves: boolean; interval: string | null };
  }
>;
export type Refund = Pick<Stripe.Refund, 'id' | 'object' | 'amount' | 'status' | 'created'> & {
  payment_intent: string;
  metadata: Metadata;
};
export type Dispute = Pick<Stripe.Dispute, 'id' | 'object' | 'amount' | 'status' | 'created'> & {
  payment_intent: string;
  metadata: Metadata;
};
export type Invoice = Pick<
  Stripe.Invoice,
  | 'id'
  | 'object'
  | 'status'
  | 'amount_due'
  | 'amount_paid'
  | 'currency'
  | 'attempt_count'
  | 'created'
  | 'next_payment_attempt'
  | 'hosted_invoice_url'
> & {
  parent: { subscription_details: { subscription: string } };
  payments: { data: { payment: { payment_intent: string } }[] };
};
export type Subscription = Pick<
  Stripe.Subscription,
  'id' | 'object' | 'status' | 'cancel_at_period_end' | 'cancel_at' | 'metadata'
> & {
  customer: string;
  default_payment_method: string;
  latest_invoice: string;
  items: { data: Pick<Stripe.SubscriptionItem, 'id' | 'current_period_start' | 'current_period_end'>[] };
  /** Not Stripe's: what the next invoice is about. */
  amount: number;
  currency: string;
};

export type StripeObject =
  | Customer
  | Method
  | Review
  | Intent
  | SetupIntent
  | Session
  | Refund
  | Dispute
  | Invoice
  | Subscription;

/** How a card behaves, as in test/payments/conformance.ts. */
export type CardKind = 'pays' | 'declines' | 'authenticates' | 'reviewed' | 'slow' | 'declines_later';

/** The bank's answer when the card is charged without its owner; null: it pays. */
export function laterError(card: CardKind): IntentError | null {
  if (card === 'declines_later' || card === 'declines') return declinedError;
  if (card !== 'authenticates') return null;
  return { code: 'authentication_required', decline_code: 'authentication_required', message: 'Authenticate.' };
}

export const declinedError: IntentError = {
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
};

/** An answer that is no object: how Stripe refuses. */
export class Refused extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, error: Record<string, unknown>) {
    super(String(error.code ?? error.type));
    this.status = status;
    this.body = { error };
  }
}

export function missing(id: string, param = 'id'): Refused {
  const message = `No such object: '${id}'`;
  return new Refused(404, { type: 'invalid_request_error', code: 'resource_missing', param, message });
}

export function invalid(param: string, code: string, message = code): Refused {
  return new Refused(400, { type: 'invalid_request_error', code, param, message });
}

/** Both in seconds. */
export function monthLater(seconds: number): number {
  const date = new Date(seconds * 1_000);
  return Math.floor(date.setUTCMonth(date.getUTCMonth() + 1) / 1_000);
}
