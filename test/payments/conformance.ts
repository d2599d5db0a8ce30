// What every payment provider must do, as one list of cases: each adapter runs it against its own double. A double brings what people do at
// a provider's: paying on its page, and the dashboard.
import { expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import {
  type CheckoutRequest,
  type PaymentProvider,
  PaymentProviderError,
  type PaymentState,
} from '../../src/vendors/payments/port.ts';

/** How a card behaves: `pays`, `declines`, `authenticates` (confirmed by the payer), `reviewed`, `slow`, `declines_later`. */
export type CardKind = 'pays' | 'declines' | 'authenticates' | 'reviewed' | 'slow' | 'declines_later';

export interface ProviderBench {
  readonly provider: PaymentProvider;
  /** A person pays at the address of a checkout. */
  pay(url: string, card: CardKind): Promise<void>;
  /** Moves the provider's clock. */
  advance(seconds: number): Promise<void>;
  nowMs(): Promise<number>;
  /** A refund made at the dashboard. */
  refundElsewhere(paymentRef: string, amountMinor: number): Promise<void>;
  /** The payer's bank opens a dispute over that much. Answers its ref. */
  dispute(paymentRef: string, amountMinor: number): Promise<string>;
  closeDispute(disputeRef: string, outcome: 'won' | 'lost'): Promise<void>;
  /** A person pays a renewal that failed, at its page. */
  payInvoice(url: string): Promise<void>;
  /** The dashboard sets another price for the renewals to come. */
  reprice(subscriptionRef: string, amountMinor: number): Promise<void>;
}

const DAY_SECONDS = 86_400;

/** Declares the cases in the describe it is called in. */
export function conformsToPort(bench: () => ProviderBench): void {
  checkoutCases(bench);
  returnCases(bench);
  methodCases(bench);
  subscriptionCases(bench);
}

/** Begins a checkout; `over`: what is not usual about it. */
async function begin({ provider, nowMs }: ProviderBench, over: Partial<CheckoutRequest> = {}) {
  const accountId = newId('acct_email_');
  const id = newId('top_');
  const request: CheckoutRequest = {
    id,
    accountId,
    customer: null,
    purpose: 'topup',
    amountMinor: 1_000,
    currency: 'EUR',
    description: 'Credit',
    saveMethod: false,
    returnUrl: `https://q.example/pay/return/${id}`,
    metadata: { id, account_id: accountId },
    expiresAtMs: (await nowMs()) + DAY_SECONDS * 1_000,
    ...over,
  };
  const keeps = request.saveMethod || request.purpose !== 'topup';
  const customer = keeps ? await provider.ensureCustomer({ accountId, email: null }) : null;
  const sent = { ...request, customer };
  return { request: sent, ...(await provider.checkout(sent)) };
}

async function paid(bench: ProviderBench, over: Partial<CheckoutRequest> = {}, card: CardKind = 'pays') {
  const begun = await begin(bench, over);
  await bench.pay(begun.url, card);
  return { ...begun, state: await bench.provider.read(begun.ref) };
}

const refOf = ({ paymentRef }: PaymentState) => paymentRef as string;

function checkoutCases(bench: () => ProviderBench): void {
  test('a checkout is open until somebody pays, and the same id meets the same one', async () => {
    const { request, ref, url } = await begin(bench());
    expect(await bench().provider.checkout(request)).toEqual({ ref, url });
    expect(await bench().provider.read(ref)).toMatchObject({
      ref,
      status: 'open',
      amountMinor: 1_000,
      currency: 'EUR',
      paymentRef: null,
      method: null,
      refunds: [],
      disputes: [],
    });
  });

  test.each([
    ['pays', { status: 'paid', failureCode: null, amountMinor: 1_000, currency: 'EUR' }],
    ['declines', { status: 'open', paymentRef: null }],
    ['authenticates', { status: 'paid' }],
    ['reviewed', { status: 'review' }],
    ['slow', { status: 'processing' }],
  ] as const)('a card that %s leaves the payment so', async (card, expected) => {
    expect((await paid(bench(), {}, card)).state).toMatchObject(expected);
  });

  test('after a card that was declined another one pays', async () => {
    const { ref, url } = await paid(bench(), {}, 'declines');
    await bench().pay(url, 'pays');
    expect((await bench().provider.read(ref)).status).toBe('paid');
  });

  test('a payment that takes its time arrives', async () => {
    const { ref } = await paid(bench(), {}, 'slow');
    await bench().advance(31);
    expect((await bench().provider.read(ref)).status).toBe('paid');
  });

  test('a checkout that nobody paid expires', async () => {
    const { ref } = await begin(bench());
    await bench().advance(DAY_SECONDS + 1);
    expect((await bench().provider.read(ref)).status).toBe('expired');
  });

  test('an unknown payment is an error that says so, and no state', async () => {
    const error = await bench()
      .provider.read('cs_test_unknown')
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PaymentProviderError);
    expect(error).toMatchObject({ kind: 'refused', code: 'resource_missing' });
  });
}

function returnCases(bench: () => ProviderBench): void {
  test('refunds are made once under an id, up to what was paid, and show with those made elsewhere', async () => {
    const { provider, refundElsewhere } = bench();
    const { ref, state } = await paid(bench());
    const ours = { id: newId('ref_'), paymentRef: refOf(state), amountMinor: 400 };
    const refund = await provider.refund(ours);
    expect(refund).toMatchObject({ id: ours.id, status: 'succeeded', amountMinor: 400 });
    expect(await provider.refund(ours)).toEqual(refund);
    await refundElsewhere(refOf(state), 100);
    expect((await provider.refund({ ...ours, id: newId('ref_'), amountMinor: 501 })).status).toBe('failed');
    const { refunds } = await provider.read(ref);
    expect(
      refunds.filter(({ status }) => status === 'succeeded').map(({ id, amountMinor }) => [id, amountMinor]),
    ).toEqual(
      expect.arrayContaining([
        [ours.id, 400],
        [null, 100],
      ]),
    );
  });

  test.each(['won', 'lost'] as const)('a dispute is open, then %s', async (outcome) => {
    const { provider, dispute, closeDispute } = bench();
    const { ref, state } = await paid(bench());
    const disputeRef = await dispute(refOf(state), 700);
    const shown = async () => (await provider.read(ref)).disputes;
    expect(await shown()).toEqual([{ ref: disputeRef, status: 'open', amountMinor: 700 }]);
    await closeDispute(disputeRef, outcome);
    expect(await shown()).toEqual([{ ref: disputeRef, status: outcome, amountMinor: 700 }]);
  });
}

function methodCases(bench: () => ProviderBench): void {
  test('a method that is kept is charged later, once under an id, until it is detached', async () => {
    const { provider } = bench();
    const { request, state } = await paid(bench(), { saveMethod: true });
    const method = state.method;
    expect(method).toMatchObject({ type: 'card', last4: expect.stringMatching(/^\d{4}$/) });
    const { accountId, customer } = request;
    const charge = {
      id: newId('arch_'),
      accountId,
      customer: customer as string,
      methodRef: method?.ref as string,
      amountMinor: 2_500,
      currency: 'USD' as const,
      description: 'Recharge',
      metadata: {},
    };
    const charged = await provider.charge(charge);
    expect(charged).toMatchObject({ status: 'paid', amountMinor: 2_500, currency: 'USD' });
    expect((await provider.charge(charge)).ref).toBe(charged.ref);
    expect(await provider.readMethod(charge.methodRef)).toEqual(method);
    await provider.detach(charge.methodRef);
    await provider.detach(charge.methodRef);
    expect(await provider.readMethod(charge.methodRef)).toBeNull();
    const after = await provider.charge({ ...charge, id: newId('arch_') });
    expect(after.status).toBe('failed');
  });

  test.each([
    ['declines_later', 'card_declined'],
    ['authenticates', 'authentication_required'],
  ] as const)('a kept card that %s fails with %s when it is charged later', async (card, failureCode) => {
    const { request, state } = await paid(bench(), { purpose: 'setup', amountMinor: 0, saveMethod: true }, card);
    expect(state.status).toBe('paid');
    const charged = await bench().provider.charge({
      id: newId('arch_'),
      accountId: request.accountId,
      customer: request.customer as string,
      methodRef: state.method?.ref as string,
      amountMinor: 500,
      currency: 'USD',
      description: 'x',
      metadata: {},
    });
    expect(charged).toMatchObject({ status: 'failed', failureCode });
  });
}

function subscriptionCases(bench: () => ProviderBench): void {
  test('a subscription runs by the month, is cancelled at its end, resumed, and cancelled at once', async () => {
    const { provider } = bench();
    const { state } = await paid(bench(), subscription);
    const subscriptionRef = state.subscriptionRef as string;
    const first = await provider.readSubscription(subscriptionRef);
    expect(first).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
    expect(first.lastInvoice).toMatchObject({ status: 'paid', amountMinor: 2_000 });
    expect(first.currentPeriodEndMs - first.currentPeriodStartMs).toBeGreaterThanOrEqual(28 * DAY_SECONDS * 1_000);
    const ending = await provider.cancelSubscription({ id: newId('chg_'), subscriptionRef, atPeriodEnd: true });
    expect(ending).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    const resumed = await provider.resumeSubscription({ id: newId('chg_'), subscriptionRef });
    expect(resumed).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
    const ended = await provider.cancelSubscription({ id: newId('chg_'), subscriptionRef, atPeriodEnd: false });
    expect(ended.status).toBe('cancelled');
  });

  test('a renewal that failed is paid by hand at its page, and can be paid no more once the subscription is cancelled', async () => {
    const { provider, payInvoice, advance } = bench();
    const { state } = await paid(bench(), subscription, 'declines_later');
    const subscriptionRef = state.subscriptionRef as string;
    await advance(MONTH_SECONDS);
    const owed = await provider.readSubscription(subscriptionRef);
    expect(owed).toMatchObject({ status: 'past_due', lastInvoice: { status: 'failed', failureCode: 'card_declined' } });
    await payInvoice(owed.lastInvoice?.payUrl as string);
    expect(await provider.readSubscription(subscriptionRef)).toMatchObject({
      status: 'active',
      currentPeriodStartMs: owed.currentPeriodStartMs,
      lastInvoice: { ref: owed.lastInvoice?.ref, status: 'paid', amountMinor: 2_000, currency: 'USD', payUrl: null },
    });
    await advance(MONTH_SECONDS);
    const again = (await provider.readSubscription(subscriptionRef)).lastInvoice?.payUrl as string;
    expect(again).not.toBe(owed.lastInvoice?.payUrl);
    await provider.cancelSubscription({ id: newId('chg_'), subscriptionRef, atPeriodEnd: false });
    await payInvoice(again).catch((error: unknown) => expect(String(error)).toContain('void'));
    const { lastInvoice } = await provider.readSubscription(subscriptionRef);
    expect(lastInvoice).toMatchObject({ status: 'failed', payUrl: null });
  });

  test('what goes back of a renewal, and another price, show in its invoice', async () => {
    const { provider, advance, refundElsewhere, dispute, closeDispute, reprice } = bench();
    const { state } = await paid(bench(), subscription);
    const subscriptionRef = state.subscriptionRef as string;
    const invoice = async () => (await provider.readSubscription(subscriptionRef)).lastInvoice;
    await reprice(subscriptionRef, 1_500);
    await advance(MONTH_SECONDS);
    const first = await invoice();
    expect(first).toMatchObject({ status: 'paid', amountMinor: 1_500, refundedMinor: 0, dispute: null, payUrl: null });
    await refundElsewhere(first?.paymentRef as string, 300);
    const disputeRef = await dispute(first?.paymentRef as string, 1_200);
    expect(await invoice()).toMatchObject({ status: 'paid', refundedMinor: 300, dispute: 'open' });
    await closeDispute(disputeRef, 'lost');
    expect(await invoice()).toMatchObject({ dispute: 'lost' });
  });
}

const MONTH_SECONDS = 31 * DAY_SECONDS;
const subscription = { purpose: 'subscription', saveMethod: true, amountMinor: 2_000, currency: 'USD' } as const;
