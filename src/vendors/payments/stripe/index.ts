// Stripe as a payment provider, through its own package. That takes 37 MB, so this file is loaded only if configured. Every write has an id
// of ours as idempotency key, so a retry, by the package or by us, happens once.
import Stripe from 'stripe';
import type {
  ChargeRequest,
  Checkout,
  CheckoutRequest,
  PaymentProvider,
  PaymentState,
  RefundRequest,
  RefundState,
  SavedMethod,
  SubscriptionChange,
  SubscriptionState,
} from '../port.ts';
import { fail, failureCode, isMissing, isRefusal } from './errors.ts';
import { readHint } from './hints.ts';
import { intentState, readPayment, refundState, savedMethod } from './payment.ts';
import { readSubscription } from './subscription.ts';

const TIMEOUT_MS = 20_000;
const RETRIES = 2;
/** Stripe takes no end later than a day from now, by its own clock. */
const CLOCKS_DIFFER_SECONDS = 300;

export interface StripeOptions {
  readonly secretKey: string;
  /** Null: no message is believed. */
  readonly webhookSecret: string | null;
  /** Origin in place of Stripe's. */
  readonly apiBase: string | null;
}

export function stripeProvider({ secretKey, webhookSecret, apiBase }: StripeOptions): PaymentProvider {
  const stripe = new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(apiBase === null ? {} : originOf(apiBase)),
  });
  // A restricted key begins with rk.
  return new StripeProvider(stripe, { webhookSecret, testMode: /^[rs]k_test_/.test(secretKey) });
}

function originOf(apiBase: string): { protocol: 'http' | 'https'; host: string; port: string } {
  const { protocol, hostname, port } = new URL(apiBase);
  const isPlain = protocol === 'http:';
  return { protocol: isPlain ? 'http' : 'https', host: hostname, port: port || (isPlain ? '80' : '443') };
}

class StripeProvider implements PaymentProvider {
  readonly name = 'stripe';
  readonly testMode: boolean;
  readonly #stripe: Stripe;
  readonly #webhookSecret: string | null;

  constructor(stripe: Stripe, { webhookSecret, testMode }: { webhookSecret: string | null; testMode: boolean }) {
    this.#stripe = stripe;
    this.#webhookSecret = webhookSecret;
    this.testMode = testMode;
  }

  async checkout(request: CheckoutRequest): Promise<Checkout> {
    const params = { ...sessionParams(request), ...modeParams(request) };
    const session = await this.#stripe.checkout.sessions.create(params, requestOptions(request.id)).catch(fail);
    if (session.url === null) throw new Error('Stripe made a checkout without an address');
    return { ref: session.id, url: session.url };
  }

  async read(ref: string): Promise<PaymentState> {
    return readPayment(this.#stripe, ref).catch(fail);
  }

  async charge(request: ChargeRequest): Promise<PaymentState> {
    const { id, customer, methodRef, amountMinor, currency, description, metadata } = request;
    const params: Stripe.PaymentIntentCreateParams = {
      amount: amountMinor,
      currency: currency.toLowerCase(),
      customer,
      payment_method: methodRef,
      off_session: true,
      confirm: true,
      description,
      metadata: { ...metadata, id },
      expand: ['review'],
    };
    try {
      return intentState(await this.#stripe.paymentIntents.create(params, requestOptions(id)));
    } catch (error) {
      if (error instanceof Stripe.errors.StripeCardError) return declinedCharge(request, error);
      // The method is gone, or is another customer's: nothing was made.
      if (isRefusal(error) && error.param === 'payment_method')
        return { ...failedCharge(request), failureCode: 'method_gone' };
      return fail(error);
    }
  }

  async findCharge({ id, customer }: Pick<ChargeRequest, 'id' | 'customer'>): Promise<PaymentState | null> {
    const found = this.#stripe.paymentIntents.list({ customer, limit: 100 });
    try {
      for await (const intent of found) if (intent.metadata.id === id) return await this.read(intent.id);
      return null;
    } catch (error) {
      return fail(error);
    }
  }

  async refund({ id, paymentRef, amountMinor }: RefundRequest): Promise<RefundState> {
    const params = { payment_intent: paymentRef, amount: amountMinor, metadata: { id } };
    try {
      return refundState(await this.#stripe.refunds.create(params, requestOptions(id)));
    } catch (error) {
      // More than is left of the payment, or one that cannot be paid back: nothing was made.
      if (isRefusal(error) && !isMissing(error)) return { ref: id, id, status: 'failed', amountMinor };
      return fail(error);
    }
  }

  async ensureCustomer({ accountId, email }: { accountId: string; email: string | null }): Promise<string> {
    // Without the address: under one key the parameters must never change.
    const params = { metadata: { account_id: accountId } };
    const { id } = await this.#stripe.customers.create(params, requestOptions(`customer-${accountId}`)).catch(fail);
    if (email !== null) await this.#stripe.customers.update(id, { email }).catch(fail);
    return id;
  }

  async readMethod(methodRef: string): Promise<SavedMethod | null> {
    try {
      const method = await this.#stripe.paymentMethods.retrieve(methodRef);
      return method.customer === null ? null : savedMethod(method);
    } catch (error) {
      return isMissing(error) ? null : fail(error);
    }
  }

  async detach(methodRef: string): Promise<void> {
    if ((await this.readMethod(methodRef)) === null) return;
    await this.#stripe.paymentMethods.detach(methodRef).catch((error: unknown) => {
      // Somebody else was first.
      if (!isRefusal(error)) fail(error);
    });
  }

  async readSubscription(subscriptionRef: string): Promise<SubscriptionState> {
    return readSubscription(this.#stripe, subscriptionRef).catch(fail);
  }

  async cancelSubscription(change: SubscriptionChange & { readonly atPeriodEnd: boolean }): Promise<SubscriptionState> {
    const { id, subscriptionRef, atPeriodEnd } = change;
    const state = await this.readSubscription(subscriptionRef);
    if (state.status === 'cancelled') return state;
    if (atPeriodEnd) await this.#setEnd(change, true);
    else {
      if (state.lastInvoice?.status === 'failed') await this.#void(id, state.lastInvoice.ref);
      await this.#stripe.subscriptions.cancel(subscriptionRef, { prorate: false }, requestOptions(id)).catch(fail);
    }
    return this.readSubscription(subscriptionRef);
  }

  async resumeSubscription(change: SubscriptionChange): Promise<SubscriptionState> {
    await this.#setEnd(change, false);
    return this.readSubscription(change.subscriptionRef);
  }

  /** Nobody pays for what has ended. */
  async #void(id: string, invoiceRef: string): Promise<void> {
    await this.#stripe.invoices.voidInvoice(invoiceRef, {}, requestOptions(`${id}_void`)).catch((error: unknown) => {
      // It is void, or paid, already.
      if (!isRefusal(error)) fail(error);
    });
  }

  async #setEnd({ id, subscriptionRef }: SubscriptionChange, cancel_at_period_end: boolean): Promise<void> {
    await this.#stripe.subscriptions.update(subscriptionRef, { cancel_at_period_end }, requestOptions(id)).catch(fail);
  }

  verifyHint(rawBody: Buffer, signatureHeader: string | undefined, nowMs: number) {
    if (this.#webhookSecret === null || signatureHeader === undefined) return null;
    return readHint(rawBody, signatureHeader, this.#webhookSecret, nowMs);
  }
}

function requestOptions(idempotencyKey: string): Stripe.RequestOptions {
  return { idempotencyKey };
}

function sessionParams({ id, customer, returnUrl, expiresAtMs, metadata }: CheckoutRequest) {
  return {
    ...(customer === null ? {} : { customer }),
    client_reference_id: id,
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: Math.floor(expiresAtMs / 1_000) - CLOCKS_DIFFER_SECONDS,
    metadata,
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function modeParams(request: CheckoutRequest): Stripe.Checkout.SessionCreateParams {
  const { purpose, currency, description, metadata, saveMethod } = request;
  if (purpose === 'setup')
    return { mode: 'setup', currency: currency.toLowerCase(), setup_intent_data: { metadata, description } };
  // The payer pays the amount of our row, in its currency.
  const adaptive_pricing = { enabled: false };
  if (purpose === 'subscription') {
    const line_items = [lineItem(request, { interval: 'month' })];
    return { mode: 'subscription', line_items, adaptive_pricing, subscription_data: { metadata } };
  }
  const usage = saveMethod ? { setup_future_usage: 'off_session' as const } : {};
  const payment_intent_data = { description, metadata, ...usage };
  return { mode: 'payment', line_items: [lineItem(request)], adaptive_pricing, payment_intent_data };
}

function lineItem(
  { currency, amountMinor, description }: CheckoutRequest,
  recurring?: { readonly interval: 'month' },
): Stripe.Checkout.SessionCreateParams.LineItem {
  const price = { currency: currency.toLowerCase(), unit_amount: amountMinor, product_data: { name: description } };
  return { quantity: 1, price_data: recurring === undefined ? price : { ...price, recurring } };
}

function failedCharge({ id, amountMinor, currency }: ChargeRequest): PaymentState {
  return {
    ref: id,
    status: 'failed',
    amountMinor,
    currency,
    failureCode: null,
    paymentRef: null,
    method: null,
    subscriptionRef: null,
    refunds: [],
    disputes: [],
  };
}

function declinedCharge(request: ChargeRequest, error: Stripe.errors.StripeCardError): PaymentState {
  const ref = error.payment_intent?.id ?? request.id;
  return { ...failedCharge(request), ref, failureCode: failureCode(error) };
}
