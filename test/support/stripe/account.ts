// One account at Stripe: its objects, what the API does with them, and what people do: payers on the page of a checkout, their banks, and
// whoever sits at the dashboard. Whatever changes is told as an event.
import { randomBytes } from 'node:crypto';
import {
  type CardKind,
  type Dispute,
  declinedError,
  type Intent,
  type Invoice,
  invalid,
  laterError,
  type Method,
  missing,
  monthLater,
  type Refund,
  Refused,
  type Session,
  type StripeObject,
  type Subscription,
} from './objects.ts';

const DAY = 86_400;
const SLOW_SECONDS = 30;

export interface StripeEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: StripeObject };
}

export class StripeAccount {
  readonly objects = new Map<string, StripeObject>();
  readonly events: StripeEvent[] = [];
  /** Methods, and how each behaves. */
  readonly #cards = new Map<string, CardKind>();
  #aheadSeconds = 0;

  get now(): number {
    return Math.floor(Date.now() / 1_000) + this.#aheadSeconds;
  }

  /** Moves the clock; what becomes due by then happens. */
  advance(seconds: number): void {
    this.#aheadSeconds += seconds;
    for (const object of this.objects.values()) this.#pass(object);
  }

  find<T extends StripeObject>(id: string, param?: string): T {
    const object = this.objects.get(id);
    if (object === undefined) throw missing(id, param);
    this.#pass(object);
    return object as T;
  }

  all<T extends StripeObject>(kind: T['object'], matches: (object: T) => boolean): T[] {
    const found = [...this.objects.values()].filter((each): each is T => each.object === kind);
    return found.filter(matches).toReversed();
  }

  add<T extends StripeObject>(object: T): T {
    this.objects.set(object.id, object);
    return object;
  }

  newId(prefix: string): string {
    return `${prefix}_${randomBytes(12).toString('hex')}`;
  }

  tell(type: string, object: StripeObject): void {
    const data = { object: structuredClone(object) };
    this.events.push({ id: this.newId('evt'), object: 'event', type, created: this.now, data });
  }

  /** What time does to an object. */
  #pass(object: StripeObject): void {
    if (object.object === 'checkout.session' && object.status === 'open' && object.expires_at <= this.now) {
      object.status = 'expired';
      this.tell('checkout.session.expired', object);
    }
    if (object.object === 'payment_intent' && object.status === 'processing' && (object.arrivesAt ?? 0) <= this.now)
      this.#arrive(object);
    if (object.object === 'subscription') while (this.#renew(object));
  }

  #arrive(intent: Intent): void {
    Object.assign(intent, { status: 'succeeded', amount_received: intent.amount });
    const [session] = this.all<Session>('checkout.session', ({ payment_intent }) => payment_intent === intent.id);
    this.tell('payment_intent.succeeded', intent);
    if (session === undefined) return;
    session.payment_status = 'paid';
    this.tell('checkout.session.async_payment_succeeded', session);
  }

  /** A card of a customer, or of nobody. */
  card(kind: CardKind, customer: string | null): Method {
    const last4 = String(1_000 + this.#cards.size).slice(-4);
    const card = { brand: 'visa', last4, exp_month: 12, exp_year: 2_040 } as const;
    const method = this.add<Method>({ id: this.newId('pm'), object: 'payment_method', type: 'card', customer, card });
    this.#cards.set(method.id, kind);
    return method;
  }

  intent(over: Partial<Intent> & Pick<Intent, 'amount' | 'currency' | 'metadata'>): Intent {
    return this.add<Intent>({
      id: this.newId('pi'),
      object: 'payment_intent',
      created: this.now,
      status: 'requires_payment_method',
      amount_received: 0,
      customer: null,
      payment_method: null,
      review: null,
      setup_future_usage: null,
      last_payment_error: null,
      ...over,
    });
  }

  /** The money of a payment comes, or is on its way, or its payment is reviewed. */
  succeed(intent: Intent, kind: CardKind): void {
    if (kind === 'slow') {
      Object.assign(intent, { status: 'processing', arrivesAt: this.now + SLOW_SECONDS });
      this.tell('payment_intent.processing', intent);
      return;
    }
    Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null });
    if (kind === 'reviewed') {
      const review = this.add({ id: this.newId('prv'), object: 'review' as const, open: true });
      intent.review = review.id;
      this.tell('review.opened', review);
    }
    this.tell('payment_intent.succeeded', intent);
  }

  /** Charges a method without its owner. Throws Stripe's card error. */
  chargeNow(intent: Intent): void {
    const method = this.find<Method>(intent.payment_method ?? '', 'payment_method');
    const kind = this.#cards.get(method.id) ?? 'pays';
    const error = laterError(kind);
    if (error === null) {
      this.succeed(intent, kind);
      return;
    }
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error });
    this.tell('payment_intent.payment_failed', intent);
    throw new Refused(402, { type: 'card_error', ...error, payment_intent: { ...intent } });
  }

  /** A person pays on the page of a checkout. */
  pay(url: string, kind: CardKind): void {
    const [session] = this.all<Session>('checkout.session', (each) => each.url === url);
    if (session === undefined) throw new Error(`there is no checkout at ${url}`);
    this.#pass(session);
    if (session.status !== 'open') throw new Error(`the checkout is ${session.status}`);
    if (session.mode === 'payment') this.#payOnce(session, kind);
    else if (session.mode === 'setup') this.#setUp(session, kind);
    else this.#subscribe(session, kind);
  }

  #payOnce(session: Session, kind: CardKind): void {
    const { amount_total: amount, currency, customer, asked } = session;
    const intent =
      session.payment_intent === null
        ? this.intent({
            amount: amount ?? 0,
            currency: currency ?? 'usd',
            customer,
            metadata: asked.metadata,
            setup_future_usage: asked.saves ? 'off_session' : null,
          })
        : this.find<Intent>(session.payment_intent);
    session.payment_intent = intent.id;
    if (kind === 'declines') {
      intent.last_payment_error = declinedError;
      this.tell('payment_intent.payment_failed', intent);
      return;
    }
    intent.payment_method = this.card(kind, asked.saves ? customer : null).id;
    this.succeed(intent, kind);
    this.#complete(session, intent.status === 'succeeded' ? 'paid' : 'unpaid');
  }

  #setUp(session: Session, kind: CardKind): void {
    const { metadata } = session.asked;
    const payment_method = this.card(kind, session.customer).id;
    const made = { id: this.newId('seti'), object: 'setup_intent' as const, status: 'succeeded' as const };
    session.setup_intent = this.add({ ...made, metadata, payment_method }).id;
    this.#complete(session, 'no_payment_required');
  }

  #complete(session: Session, payment_status: Session['payment_status']): void {
    Object.assign(session, { status: 'complete', payment_status });
    this.tell('checkout.session.completed', session);
  }

  #subscribe(session: Session, kind: CardKind): void {
    const { customer, amount_total, asked } = session;
    if (kind === 'declines') return;
    const id = this.newId('sub');
    const item = { id: this.newId('si'), current_period_start: this.now, current_period_end: monthLater(this.now) };
    const amount = amount_total ?? 0;
    const subscription = this.add<Subscription>({
      id,
      object: 'subscription',
      status: 'active',
      cancel_at_period_end: false,
      cancel_at: null,
      amount,
      currency: session.currency ?? 'usd',
      customer: customer ?? '',
      default_payment_method: this.card(kind, customer).id,
      latest_invoice: '',
      items: { data: [item] },
      metadata: asked.metadata,
    });
    session.subscription = id;
    this.#invoice(subscription, null);
    this.tell('customer.subscription.created', subscription);
    this.#complete(session, 'paid');
  }

  /** `error`: the bank's, when the method was charged for it. */
  #invoice(subscription: Subscription, error: ReturnType<typeof laterError>): void {
    const { id, amount, currency, customer, default_payment_method: payment_method } = subscription;
    const intent = this.intent({
      amount,
      currency,
      customer,
      payment_method,
      metadata: {},
      last_payment_error: error,
      ...(error === null ? { status: 'succeeded', amount_received: amount } : {}),
    });
    const invoiceId = this.newId('in');
    const invoice = this.add<Invoice>({
      id: invoiceId,
      object: 'invoice',
      status: error === null ? 'paid' : 'open',
      amount_due: amount,
      currency,
      amount_paid: error === null ? amount : 0,
      hosted_invoice_url: `https://invoice.stripe.example/i/${invoiceId}`,
      attempt_count: 1,
      created: this.now,
      next_payment_attempt: error === null ? null : this.now + 3 * DAY,
      parent: { subscription_details: { subscription: id } },
      payments: { data: [{ payment: { payment_intent: intent.id } }] },
    });
    subscription.latest_invoice = invoice.id;
    this.tell(error === null ? 'invoice.paid' : 'invoice.payment_failed', invoice);
  }

  /** Whether a period ended and the next one began. */
  #renew(subscription: Subscription): boolean {
    const [item] = subscription.items.data;
    if (item === undefined || subscription.status !== 'active' || item.current_period_end > this.now) return false;
    if (subscription.cancel_at_period_end) {
      this.cancel(subscription);
      return false;
    }
    const start = item.current_period_end;
    Object.assign(item, { current_period_start: start, current_period_end: monthLater(start) });
    const error = laterError(this.#cards.get(subscription.default_payment_method) ?? 'pays');
    if (error !== null) subscription.status = 'past_due';
    this.#invoice(subscription, error);
    this.tell('customer.subscription.updated', subscription);
    return error === null;
  }

  /** A person pays an invoice at its page; what was owed is paid with it. */
  payInvoice(url: string): void {
    const [invoice] = this.all<Invoice>('invoice', (each) => each.hosted_invoice_url === url);
    if (invoice?.status !== 'open') throw new Error(`the invoice at ${url} is ${invoice?.status}`);
    const intent = this.find<Intent>(invoice.payments.data[0]?.payment.payment_intent ?? '');
    Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null });
    Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due, next_payment_attempt: null });
    this.find<Subscription>(invoice.parent.subscription_details.subscription).status = 'active';
    this.tell('invoice.paid', invoice);
  }

  voidInvoice(id: string): Invoice {
    const invoice = this.find<Invoice>(id);
    if (invoice.status !== 'open') throw invalid('invoice', 'invoice_not_open', `The invoice is ${invoice.status}.`);
    return Object.assign(invoice, { status: 'void', next_payment_attempt: null });
  }

  cancel(subscription: Subscription): void {
    subscription.status = 'canceled';
    this.tell('customer.subscription.deleted', subscription);
  }

  refund(payment: string, amount: number, metadata: Refund['metadata']): Refund {
    const intent = this.find<Intent>(payment, 'payment_intent');
    const given = this.all<Refund>('refund', (each) => each.payment_intent === payment && each.status !== 'failed');
    const left = intent.amount_received - given.reduce((sum, each) => sum + each.amount, 0);
    if (amount > left) throw invalid('amount', 'amount_too_large', `Only ${left} is left.`);
    const refund = this.add<Refund>({
      id: this.newId('re'),
      object: 'refund',
      amount,
      status: 'succeeded',
      created: this.now,
      payment_intent: payment,
      metadata,
    });
    this.tell('refund.created', refund);
    return refund;
  }

  dispute(payment: string, amount: number): Dispute {
    const dispute = this.add<Dispute>({
      id: this.newId('dp'),
      object: 'dispute',
      amount,
      status: 'needs_response',
      created: this.now,
      payment_intent: payment,
      metadata: {},
    });
    this.tell('charge.dispute.created', dispute);
    return dispute;
  }

  closeDispute(id: string, status: 'won' | 'lost'): void {
    const dispute = this.find<Dispute>(id);
    dispute.status = status;
    this.tell('charge.dispute.closed', dispute);
  }

  /** The dashboard approves what was reviewed. */
  closeReview(payment: string): void {
    const { review } = this.find<Intent>(payment);
    this.tell('review.closed', Object.assign(this.find(review ?? ''), { open: false }));
  }
}
