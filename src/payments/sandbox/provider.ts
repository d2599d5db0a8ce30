// The sandbox as a payment provider: test money, with a page of this service in place of the provider's. Its rows are what a provider would
// store: it knows only what it was told of top-ups and accounts. Every write is idempotent by its id.

import { clockNow } from '../../core/database-clock.ts';
import type { Database } from '../../db/database.ts';
import { newId, randomText } from '../../lib/ids.ts';
import { DAY_MS } from '../../lib/time.ts';
import {
  type ChargeRequest,
  type Checkout,
  type CheckoutRequest,
  type InvoiceState,
  type PaymentProvider,
  PaymentProviderError,
  type PaymentState,
  type RefundRequest,
  type RefundState,
  returnedMoney,
  type SavedMethod,
  type SubscriptionChange,
  type SubscriptionState,
} from '../../vendors/payments/port.ts';
import { slowMs, testCard } from './cards.ts';
import {
  detachMethod,
  findMethod,
  findPayment,
  findSubscription,
  insertRefund,
  keepPayment,
  lockPayment,
  type MethodRow,
  type PaymentRow,
  type ReturnRow,
  returnsOfPayment,
  type SubscriptionRow,
  setSubscriptionEnd,
} from './store.ts';
import { subscriptionState } from './subscription.ts';

// 190 random bits.
const TOKEN_CHARACTERS = 32;
const INVOICE_LIFETIME_MS = 30 * DAY_MS;

export class SandboxProvider implements PaymentProvider {
  readonly name = 'sandbox';
  readonly testMode = true;
  readonly #db: Database;
  readonly #baseUrl: string;

  constructor(db: Database, baseUrl: string) {
    this.#db = db;
    this.#baseUrl = baseUrl;
  }

  async checkout(request: CheckoutRequest): Promise<Checkout> {
    const row: PaymentRow = {
      ...blank(request),
      token: randomText(TOKEN_CHARACTERS),
      purpose: request.purpose,
      save_method: request.saveMethod,
      return_url: request.returnUrl,
      expires_at: request.expiresAtMs,
    };
    const { ref, token } = await keepPayment(this.#db, row, await clockNow(this.#db));
    return { ref, url: `${this.#baseUrl}/pay/${token}` };
  }

  async read(ref: string): Promise<PaymentState> {
    const [payment, returns, nowMs] = await Promise.all([
      findPayment(this.#db, { ref }),
      returnsOfPayment(this.#db, ref),
      clockNow(this.#db),
    ]);
    if (payment === null) throw new PaymentProviderError('refused', 'resource_missing');
    const method = payment.method_ref === null ? null : await findMethod(this.#db, payment.method_ref);
    return stateOf(payment, method, returns, nowMs);
  }

  async charge(request: ChargeRequest): Promise<PaymentState> {
    const nowMs = await clockNow(this.#db);
    const method = await findMethod(this.#db, request.methodRef);
    const owned = method?.account_id === request.accountId && !method.detached;
    const outcome = owned
      ? laterOutcome(method.card, nowMs)
      : { status: 'failed' as const, failure_code: 'method_gone' };
    const row: PaymentRow = { ...blank(request), ...outcome, method_ref: request.methodRef };
    const kept = await keepPayment(this.#db, row, nowMs);
    return this.read(kept.ref);
  }

  async findCharge({ id }: Pick<ChargeRequest, 'id'>): Promise<PaymentState | null> {
    const payment = await findPayment(this.#db, { id });
    return payment === null ? null : this.read(payment.ref);
  }

  async refund({ id, paymentRef, amountMinor }: RefundRequest): Promise<RefundState> {
    const refund = await this.#db.transaction(async (tx) => {
      const payment = await lockPayment(tx, paymentRef);
      if (payment === null) throw new PaymentProviderError('refused', 'resource_missing');
      const returns = await returnsOfPayment(tx, paymentRef);
      const earlier = returns.find((one) => one.id === id);
      if (earlier !== undefined) return earlier;
      const given = returns.filter(isGiven).reduce((sum, one) => sum + one.amount_minor, 0n);
      const isCovered = given + BigInt(amountMinor) <= payment.amount_minor;
      const row: ReturnRow = {
        ref: newId('sbx_re_'),
        kind: 'refund',
        id,
        status: isCovered ? 'succeeded' : 'failed',
        amount_minor: BigInt(amountMinor),
      };
      await insertRefund(tx, payment, row, await clockNow(tx));
      return row;
    });
    return refundOf(refund);
  }

  async ensureCustomer({ accountId }: { readonly accountId: string }): Promise<string> {
    return `sbx_cus_${accountId}`;
  }

  async readMethod(methodRef: string): Promise<SavedMethod | null> {
    const row = await findMethod(this.#db, methodRef);
    return row === null || row.detached ? null : savedMethod(row);
  }

  async detach(methodRef: string): Promise<void> {
    await detachMethod(this.#db, methodRef);
  }

  async readSubscription(subscriptionRef: string): Promise<SubscriptionState> {
    const [row, nowMs] = await Promise.all([findSubscription(this.#db, subscriptionRef), clockNow(this.#db)]);
    if (row === null) throw new PaymentProviderError('refused', 'resource_missing');
    const method = await findMethod(this.#db, row.method_ref);
    const state = subscriptionState(row, method?.card ?? '', nowMs);
    const { lastInvoice: invoice } = state;
    if (invoice === null) return state;
    const back = returnsIn(await returnsOfPayment(this.#db, invoice.ref));
    const payUrl = state.status === 'past_due' ? await this.#invoicePage(row, invoice, nowMs) : null;
    return { ...state, lastInvoice: { ...invoice, ...returnedMoney(back), payUrl } };
  }

  /** Where a person pays a renewal: made once for each. */
  async #invoicePage({ ref, payment_ref }: SubscriptionRow, invoice: InvoiceState, nowMs: number): Promise<string> {
    const begun = await findPayment(this.#db, { ref: payment_ref });
    if (begun === null) throw new Error(`the payment of ${ref} is gone`);
    const row: PaymentRow = {
      ...blank({ ...begun, id: invoice.ref, accountId: begun.account_id, amountMinor: invoice.amountMinor }),
      token: randomText(TOKEN_CHARACTERS),
      purpose: 'invoice',
      subscription_ref: ref,
      return_url: begun.return_url,
      expires_at: invoice.atMs + INVOICE_LIFETIME_MS,
    };
    return `${this.#baseUrl}/pay/${(await keepPayment(this.#db, row, nowMs)).token}`;
  }

  async cancelSubscription(change: SubscriptionChange & { readonly atPeriodEnd: boolean }): Promise<SubscriptionState> {
    const state = await this.readSubscription(change.subscriptionRef);
    if (state.status === 'cancelled') return state;
    const endMs = change.atPeriodEnd ? state.currentPeriodEndMs : await clockNow(this.#db);
    await setSubscriptionEnd(this.#db, change.subscriptionRef, endMs);
    return this.readSubscription(change.subscriptionRef);
  }

  async resumeSubscription({ subscriptionRef }: SubscriptionChange): Promise<SubscriptionState> {
    const state = await this.readSubscription(subscriptionRef);
    if (state.status === 'cancelled') throw new PaymentProviderError('refused', 'subscription_cancelled');
    await setSubscriptionEnd(this.#db, subscriptionRef, null);
    return this.readSubscription(subscriptionRef);
  }

  /** The sandbox sends no messages. */
  verifyHint(): null {
    return null;
  }
}

function blank(
  request: Pick<ChargeRequest, 'id' | 'accountId' | 'amountMinor' | 'description'> & { readonly currency: string },
): PaymentRow {
  return {
    ref: newId('sbx_pay_'),
    id: request.id,
    account_id: request.accountId,
    token: null,
    purpose: 'charge',
    amount_minor: BigInt(request.amountMinor),
    currency: request.currency,
    description: request.description,
    save_method: false,
    return_url: null,
    status: 'open',
    card: null,
    failure_code: null,
    pays_at: null,
    method_ref: null,
    subscription_ref: null,
    // Charges do not wait for anybody.
    expires_at: 253_402_300_799_000,
  };
}

function laterOutcome(card: string, nowMs: number): Pick<PaymentRow, 'card' | 'status' | 'failure_code' | 'pays_at'> {
  const later = testCard(card)?.later ?? { failureCode: 'method_gone' };
  const outcome = { card, failure_code: null, pays_at: null };
  if (typeof later === 'object') return { ...outcome, status: 'failed', failure_code: later.failureCode };
  if (later === 'wait') return { ...outcome, status: 'processing', pays_at: nowMs + slowMs };
  return { ...outcome, status: later === 'review' ? 'review' : 'paid' };
}

function isGiven({ kind, status }: ReturnRow): boolean {
  return kind === 'refund' ? status !== 'failed' : status !== 'won';
}

function statusOf(payment: PaymentRow, nowMs: number): PaymentState['status'] {
  const { status, pays_at } = payment;
  if (status === 'processing') return pays_at !== null && pays_at <= nowMs ? 'paid' : 'processing';
  if (status !== 'open' && status !== 'authenticating') return status;
  return payment.expires_at <= nowMs ? 'expired' : 'open';
}

function stateOf(
  payment: PaymentRow,
  method: MethodRow | null,
  returns: readonly ReturnRow[],
  nowMs: number,
): PaymentState {
  const status = statusOf(payment, nowMs);
  const hasPayment = status === 'paid' || status === 'processing' || status === 'review';
  const isKept = hasPayment && payment.purpose !== 'charge' && method !== null && !method.detached;
  return {
    ref: payment.ref,
    status,
    amountMinor: Number(payment.amount_minor),
    currency: payment.currency,
    failureCode: payment.failure_code,
    ...(status === 'processing' && payment.pays_at !== null ? { decidedAtMs: payment.pays_at } : {}),
    paymentRef: hasPayment ? payment.ref : null,
    method: isKept ? savedMethod(method) : null,
    subscriptionRef: payment.subscription_ref,
    ...returnsIn(returns),
  };
}

function returnsIn(returns: readonly ReturnRow[]): Pick<PaymentState, 'refunds' | 'disputes'> {
  return {
    refunds: returns.filter(({ kind }) => kind === 'refund').map(refundOf),
    disputes: returns
      .filter(({ kind }) => kind === 'dispute')
      .map(({ ref, status, amount_minor }) => ({
        ref,
        status: status as 'open' | 'won' | 'lost',
        amountMinor: Number(amount_minor),
      })),
  };
}

function refundOf({ ref, id, status, amount_minor }: ReturnRow): RefundState {
  return { ref, id, status: status as RefundState['status'], amountMinor: Number(amount_minor) };
}

/** Test cards last as long as anyone tests. */
function savedMethod({ ref, card }: MethodRow): SavedMethod {
  const last4 = testCard(card)?.last4 ?? null;
  return { ref, type: 'card', brand: 'test', last4, expMonth: 12, expYear: 2099 };
}
