// The adapter for Stripe, through the unchanged package, on a double of Stripe.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { type CheckoutRequest, type PaymentProvider, PaymentProviderError } from '../../src/vendors/payments/port.ts';
import { stripeProvider } from '../../src/vendors/payments/stripe/index.ts';
import { StripeDouble } from '../support/stripe/double.ts';
import { conformsToPort, type ProviderBench } from './conformance.ts';
import { stripeBench } from './stripe-bench.ts';

let double: StripeDouble;
let bench: ProviderBench;
let provider: PaymentProvider;
beforeAll(async () => {
  double = await StripeDouble.start();
  bench = stripeBench(double);
  provider = bench.provider;
});
afterAll(() => double?.stop());

describe('Stripe', () => {
  conformsToPort(() => bench);
});

async function checkoutRequest(over: Partial<CheckoutRequest> = {}): Promise<CheckoutRequest> {
  const id = newId('top_');
  return {
    id,
    accountId: newId('acct_email_'),
    customer: null,
    purpose: 'topup',
    amountMinor: 1_000,
    currency: 'USD',
    description: 'Credit',
    saveMethod: false,
    returnUrl: 'https://q.example/pay/return',
    metadata: { id },
    expiresAtMs: (await bench.nowMs()) + 86_400_000,
    ...over,
  };
}

describe('an answer that is lost', () => {
  test.each(['reset', '500'] as const)(
    '%s after the effect: the package repeats under the same key, and one checkout is made',
    async (how) => {
      const request = await checkoutRequest();
      double.faults.push({ at: /POST .*sessions$/, how, when: 'after' });
      const { ref } = await provider.checkout(request);
      const made = double.account.all(
        'checkout.session',
        (each) => 'client_reference_id' in each && each.client_reference_id === request.id,
      );
      expect(made.map(({ id }) => id)).toEqual([ref]);
      const keys = double.seen.filter(({ key }) => key === request.id);
      expect(keys).toHaveLength(2);
    },
  );

  test('three times: it is not known whether it happened', async () => {
    for (let n = 0; n < 3; n += 1) double.faults.push({ at: /POST .*sessions$/, how: 'reset', when: 'after' });
    const error = await provider.checkout(await checkoutRequest()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PaymentProviderError);
    expect(error).toMatchObject({ kind: 'unknown' });
  });

  test('a charge is found again by its id, and is one', async () => {
    const accountId = newId('acct_email_');
    const customer = await provider.ensureCustomer({ accountId, email: 'payer@example.com' });
    const { url, ref } = await provider.checkout(await checkoutRequest({ accountId, customer, saveMethod: true }));
    await bench.pay(url, 'pays');
    const { method } = await provider.read(ref);
    const id = newId('arch_');
    const charge = {
      id,
      accountId,
      customer,
      methodRef: method?.ref ?? '',
      amountMinor: 700,
      currency: 'USD',
      description: 'x',
      metadata: {},
    } as const;
    expect(await provider.findCharge({ id, customer })).toBeNull();
    for (let n = 0; n < 3; n += 1) double.faults.push({ at: /POST .*payment_intents$/, how: 'reset', when: 'after' });
    await expect(provider.charge(charge)).rejects.toMatchObject({ kind: 'unknown' });
    expect(await provider.findCharge({ id, customer })).toMatchObject({ status: 'paid', amountMinor: 700 });
    const charged = await provider.charge(charge);
    expect(charged.status).toBe('paid');
    expect(double.account.all('payment_intent', (each) => 'metadata' in each && each.metadata?.id === id)).toHaveLength(
      1,
    );
  });
});

test('a key that Stripe does not know is a refusal', async () => {
  const other = stripeProvider({ secretKey: 'sk_test_wrong', webhookSecret: null, apiBase: double.url });
  await expect(other.read('cs_test_1')).rejects.toMatchObject({ kind: 'refused' });
  expect(other.verifyHint(Buffer.from('{}'), 't=1,v1=00', Date.now())).toBeNull();
});

test('the same key for another request is not taken for its answer', async () => {
  const request = await checkoutRequest();
  await provider.checkout(request);
  await expect(provider.checkout({ ...request, amountMinor: 2_000 })).rejects.toMatchObject({ kind: 'unknown' });
});

test('a live key takes live money, a restricted test key test money', () => {
  const of = (secretKey: string) => stripeProvider({ secretKey, webhookSecret: null, apiBase: null }).testMode;
  expect(['sk_live_1', 'rk_live_1', 'sk_test_1', 'rk_test_1'].map(of)).toEqual([false, false, true, true]);
});

describe('a message', () => {
  async function event() {
    const metadata = { id: newId('top_'), account_id: newId('acct_email_') };
    const { url, ref } = await provider.checkout(await checkoutRequest({ id: metadata.id, metadata }));
    await bench.pay(url, 'pays');
    const told = double.account.events.findLast(({ type }) => type === 'checkout.session.completed');
    if (told === undefined) throw new Error('nothing was told');
    return { told, ref, metadata };
  }
  const verified = ({ headers, body }: ReturnType<StripeDouble['message']>, nowMs = Date.now()) =>
    provider.verifyHint(Buffer.from(body), headers['stripe-signature'], nowMs);

  test('says which objects are concerned, and whose they are', async () => {
    const { told, ref, metadata } = await event();
    const whose = { accountId: metadata.account_id, id: metadata.id };
    expect(verified(double.message(told))).toEqual([
      { ref, ...whose },
      { ref: expect.stringMatching(/^pi_/), ...whose },
    ]);
  });

  test.each([
    [
      'with another secret',
      (m: ReturnType<StripeDouble['message']>, d: StripeDouble) => ({
        ...d.message(JSON.parse(m.body), 'whsec_other'),
      }),
    ],
    ['with a byte changed', (m: ReturnType<StripeDouble['message']>) => ({ ...m, body: `${m.body} ` })],
    ['without a signature', (m: ReturnType<StripeDouble['message']>) => ({ ...m, headers: {} })],
  ])('%s is not believed', async (_, forge) => {
    const { told } = await event();
    expect(verified(forge(double.message(told), double) as never)).toBeNull();
  });

  test('of more than five minutes ago is not believed', async () => {
    const { told } = await event();
    const message = double.message(told);
    expect(verified(message, Date.now() + 299_000)).not.toBeNull();
    expect(verified(message, Date.now() + 301_000)).toBeNull();
  });
});

/** Names and JSON types of the fields of Stripe's objects, as its published examples have them (github.com/stripe/openapi). */
const published = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/stripe-objects.json'), 'utf8'),
) as Record<string, Record<string, string>>;
/** Of the double alone; payments of an invoice come along only where they are asked for. */
const OWN = new Set(['asked', 'arrivesAt', 'amount of subscription', 'payments of invoice']);

test('the double’s objects have the fields and types that Stripe has published', () => {
  const faults = [...double.account.objects.values()].flatMap((object) =>
    Object.entries(object)
      .filter(([name]) => !OWN.has(name) && !OWN.has(`${name} of ${object.object}`))
      .filter(([name, value]) => !fits(published[object.object]?.[name], value))
      .map(([name, value]) => `${object.object}.${name}: ${JSON.stringify(value)}`),
  );
  expect(new Set([...double.account.objects.values()].map(({ object }) => object)).size).toBe(10);
  expect(faults).toEqual([]);
});

/** A field whose published example is null may be anything; a field with an id may be null. */
function fits(type: string | undefined, value: unknown): boolean {
  if (type === undefined) return false;
  return type === 'null' || value === null || (Array.isArray(value) ? 'array' : typeof value) === type;
}
