// Port of payment providers: hosted checkout, charges of saved methods, refunds, subscriptions. Every call runs outside of transactions.
// Every write has an id of ours as idempotency key: the same id again meets the same object and never a second one. State is judged by
// reading the object; a provider's messages are only hints (`verifyHint`).

export const currencies = ['USD', 'CNY', 'EUR', 'GBP', 'JPY'] as const;
export type Currency = (typeof currencies)[number];

export interface PaymentProvider {
  readonly name: 'sandbox' | 'stripe';
  /** Its money is for tests. */
  readonly testMode: boolean;
  /** Makes a page at the provider's where a person pays, or leaves a payment method. */
  checkout(request: CheckoutRequest): Promise<Checkout>;
  /** The payment behind a `ref` of `checkout` or `charge`, as it is now. */
  read(ref: string): Promise<PaymentState>;
  /** Charges a saved method without its owner. A card that is declined is an answer, `failed`. */
  charge(request: ChargeRequest): Promise<PaymentState>;
  /** The charge that was made under the id; null: there is none, and there will be none unless `charge` is called again. */
  findCharge(request: Pick<ChargeRequest, 'id' | 'customer'>): Promise<PaymentState | null>;
  /** Pays back a part of a payment. A refusal is an answer, `failed`; what is `pending` shows later in `read`. */
  refund(request: RefundRequest): Promise<RefundState>;
  /** The one customer of an account; the same for the same account. */
  ensureCustomer(request: { readonly accountId: string; readonly email: string | null }): Promise<string>;
  /** Null: the provider does not have it, or not any more. */
  readMethod(methodRef: string): Promise<SavedMethod | null>;
  /** Forgets a saved method; one that is gone already is no failure. */
  detach(methodRef: string): Promise<void>;
  /** The subscription that a checkout with that purpose began, by `subscriptionRef` of its state. */
  readSubscription(subscriptionRef: string): Promise<SubscriptionState>;
  /** At the end of the paid period, or now: then what is owed can be paid no more. `id` makes it once. */
  cancelSubscription(request: SubscriptionChange & { readonly atPeriodEnd: boolean }): Promise<SubscriptionState>;
  /** Takes back a cancellation at the end of the period. */
  resumeSubscription(request: SubscriptionChange): Promise<SubscriptionState>;
  /** Which objects a message is about, when its signature holds for the body as it came; null: it does not. */
  verifyHint(rawBody: Buffer, signatureHeader: string | undefined, nowMs: number): readonly Hint[] | null;
}

export interface CheckoutRequest {
  /** Of ours. */
  readonly id: string;
  readonly accountId: string;
  /** Of `ensureCustomer`; null only where nothing is kept. */
  readonly customer: string | null;
  readonly purpose: 'topup' | 'setup' | 'subscription';
  /** In the smallest unit of the currency; of a subscription, each month; 0 of a setup. */
  readonly amountMinor: number;
  readonly currency: Currency;
  /** What the payer reads. */
  readonly description: string;
  /** Keeps the payment method for later charges without its owner. */
  readonly saveMethod: boolean;
  /** A page of ours; the payer comes back to it, whatever happened. */
  readonly returnUrl: string;
  readonly expiresAtMs: number;
  /** What it is for: `account_id`, and `id` of ours. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Checkout {
  readonly ref: string;
  /** Where the person goes. */
  readonly url: string;
}

export interface PaymentState {
  readonly ref: string;
  /**
   * `open`: nobody has paid, also after a card was declined. `processing`: the provider waits for the money. `review`: the provider, or a
   * person there, examines it: what is paid and under review is `review`. Of a setup, `paid` means that the method is kept.
   */
  readonly status: 'open' | 'processing' | 'review' | 'paid' | 'failed' | 'expired';
  readonly amountMinor: number;
  /** As the provider names it, in capitals. */
  readonly currency: string;
  readonly failureCode: string | null;
  /** When it is decided, where the provider knows that: it is read again then. */
  readonly decidedAtMs?: number;
  /** What refunds and disputes are of; null before there is a payment. */
  readonly paymentRef: string | null;
  /** The method that was kept. */
  readonly method: SavedMethod | null;
  readonly subscriptionRef: string | null;
  /** All of the payment, made by us or elsewhere. */
  readonly refunds: readonly RefundState[];
  /** The payment's disputes, in the order in which they were opened. */
  readonly disputes: readonly DisputeState[];
}

export interface ChargeRequest {
  readonly id: string;
  readonly accountId: string;
  readonly customer: string;
  readonly methodRef: string;
  readonly amountMinor: number;
  readonly currency: Currency;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface RefundRequest {
  readonly id: string;
  readonly paymentRef: string;
  readonly amountMinor: number;
}

export interface RefundState {
  readonly ref: string;
  /** The id of ours it was made under; null: it was made elsewhere. */
  readonly id: string | null;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly amountMinor: number;
}

export interface DisputeState {
  readonly ref: string;
  /** `open` from the moment in which the provider keeps the money back. */
  readonly status: 'open' | 'won' | 'lost';
  readonly amountMinor: number;
}

export interface SavedMethod {
  readonly ref: string;
  readonly type: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expMonth: number | null;
  readonly expYear: number | null;
}

export interface SubscriptionState {
  readonly ref: string;
  readonly status: 'pending' | 'active' | 'past_due' | 'cancelled';
  readonly currentPeriodStartMs: number;
  readonly currentPeriodEndMs: number;
  readonly cancelAtPeriodEnd: boolean;
  readonly lastInvoice: InvoiceState | null;
}

export interface InvoiceState {
  readonly ref: string;
  readonly status: 'open' | 'paid' | 'failed';
  /** What was paid; of one that is not paid, what is to be. */
  readonly amountMinor: number;
  /** As the provider names it, in capitals. */
  readonly currency: string;
  readonly atMs: number;
  readonly nextAttemptMs: number | null;
  readonly failureCode: string | null;
  /** What refunds and disputes are of; null before there is a payment. */
  readonly paymentRef: string | null;
  /** Where a person pays what failed; null: nowhere, or nothing did. */
  readonly payUrl: string | null;
  readonly refundedMinor: number;
  /** Of the newest dispute; null: there was none. */
  readonly dispute: DisputeState['status'] | null;
}

/** What went back of an invoice's payment. */
export function returnedMoney({
  refunds,
  disputes,
}: Pick<PaymentState, 'refunds' | 'disputes'>): Pick<InvoiceState, 'refundedMinor' | 'dispute'> {
  const given = refunds.filter(({ status }) => status !== 'failed');
  const refundedMinor = given.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return { refundedMinor, dispute: disputes.at(-1)?.status ?? null };
}

export interface SubscriptionChange {
  readonly id: string;
  readonly subscriptionRef: string;
}

/** An object that may have changed at the provider's. */
export interface Hint {
  readonly ref: string;
  /** What its metadata say: the account and the id that it was made under. Null where it has none. */
  readonly accountId: string | null;
  readonly id: string | null;
}

/**
 * Why a call of a provider brought nothing. `refused`: it said no, and did nothing; `down`: it certainly did nothing; `unknown`: it may have
 * done it: repeated under the same id, or read, it tells.
 */
export class PaymentProviderError extends Error {
  override readonly name = 'PaymentProviderError';
  readonly kind: 'refused' | 'down' | 'unknown';
  /** The provider's word for it, at most 100 characters. */
  readonly code: string;

  constructor(kind: PaymentProviderError['kind'], code: string, options?: ErrorOptions) {
    super(`the payment provider answered ${kind}: ${code}`, options);
    this.kind = kind;
    this.code = code.slice(0, 100);
  }
}
