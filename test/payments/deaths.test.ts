// A process dies before, in and after every single step of creating, applying and refunding a top-up; another one finds what it left. At the
// end what is credited is what was paid, each once.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { refundTopup } from '../../src/payments/clawbacks/refund.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { createTopup } from '../../src/payments/topups/create.ts';
import type { TopupRow } from '../../src/payments/topups/store.ts';
import { type PaymentProvider, PaymentProviderError } from '../../src/vendors/payments/port.ts';
import { entering } from '../support/enter.ts';
import { Customer, openTill, type Till } from './harness.ts';
import { dyingEverywhere } from './mortal.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till?.close());

const USD = 10n ** 9n;
const order = { amountNanos: 10n * USD, currency: 'USD', saveMethod: true, returnUrl: null } as const;

const findAll = statement('test_topups_of', 'SELECT topup_id FROM core.topup WHERE account_id = $1');
const findToken = statement('test_sandbox_token', 'SELECT token FROM core.sandbox_payment WHERE id = $1');

async function topupsOf({ account }: Customer): Promise<string[]> {
  const { rows } = await till.service.core.db.query<{ topup_id: string }>(findAll, [account.accountId]);
  return rows.map(({ topup_id }) => topup_id);
}

/** A person pays at the provider's page, if there is one: the answer that named it may be lost. */
async function payIfThere(topupId: string): Promise<boolean> {
  const { rows } = await till.service.core.db.query<{ token: string }>(findToken, [topupId]);
  if (rows[0] === undefined) return false;
  await till.bench.pay(`/pay/${rows[0].token}`, 'pays');
  return true;
}

async function expectCredited(customer: Customer, topupId: string): Promise<void> {
  const [first, again] = [await customer.check({ topup_id: topupId }), await customer.check({ topup_id: topupId })];
  expect([first.status, again.status]).toEqual(['succeeded', 'succeeded']);
  expect((await customer.balance()).balance_usd).toBe(10);
  expect((await customer.told()).filter((type) => type === 'topup.succeeded')).toHaveLength(1);
  await customer.expectSound();
}

test.each(['before anybody pays', 'after it was paid'])(
  'creating: whatever is left is found %s, and credited once it is paid',
  async (when) => {
    let customer = await Customer.open(till);
    const deaths = await dyingEverywhere(till.service.core, async (core) => {
      customer = await Customer.open(till);
      const { accountId } = customer.account;
      try {
        await createTopup(core, accountId, entering(accountId), order);
      } finally {
        for (const id of await topupsOf(customer)) {
          const isPaid = when === 'after it was paid' && (await payIfThere(id));
          const shown = await customer.check({ topup_id: id });
          // A row without its page has got it by now.
          if (!isPaid) {
            expect(shown).toMatchObject({ status: 'pending', checkout_url: expect.stringContaining('/pay/') });
            await customer.pay(shown);
          }
          await expectCredited(customer, id);
        }
      }
    });
    expect(deaths).toBeGreaterThan(8);
  },
);

test('applying: the credit is there once, however far the first got', async () => {
  const deaths = await dyingEverywhere(till.service.core, async (core) => {
    const customer = await Customer.open(till);
    const topup = await customer.topup();
    await customer.pay(topup);
    try {
      await checkTopup(core, { accountId: customer.account.accountId, id: topup.topup_id, attempt: 0 });
    } finally {
      await expectCredited(customer, topup.topup_id);
    }
  });
  expect(deaths).toBeGreaterThan(4);
});

test('refunding: what was taken out was paid back, once; what was not paid back is still there', async () => {
  const deaths = await dyingEverywhere(till.service.core, async (core) => {
    const customer = await Customer.open(till);
    const topup: TopupRow = await customer.paid();
    try {
      await refundTopup(core, customer.account.accountId, topup.topup_id, 4n * USD);
    } finally {
      await customer.check(topup);
      const shown = await customer.check(topup);
      const provider = till.service.core.payments.provider as PaymentProvider;
      const { refunds } = await provider.read(await customer.paymentRef(topup));
      expect(refunds.length).toBeLessThanOrEqual(1);
      expect(shown.refunded_usd).toBe(refunds.length * 4);
      expect((await customer.balance()).balance_usd).toBe(10 - refunds.length * 4);
      await customer.expectSound();
    }
  });
  expect(deaths).toBeGreaterThan(6);
});

test.each([
  ['refused', 502, 'VENDOR_ERROR', false],
  ['down', 503, 'VENDOR_DOWN', false],
  ['unknown', 503, 'VENDOR_DOWN', true],
] as const)(
  'a provider that fails (%s) is told as %i; the key is free again; what was made and paid all the same is credited',
  async (kind, status, code, isMade) => {
    const customer = await Customer.open(till);
    const provider = till.service.core.payments.provider as PaymentProvider;
    const make = provider.checkout.bind(provider);
    const failing = vi.spyOn(provider, 'checkout').mockImplementation(async (request) => {
      if (isMade) await make(request);
      throw new PaymentProviderError(kind, 'of_the_test');
    });
    const keyed = { idempotency_key: 'once' };
    const { status: answered, body } = await customer.call('POST', '/v1/account/topup', keyed);
    expect([answered, body.error.code]).toEqual([status, code]);
    failing.mockRestore();
    const [failed] = await topupsOf(customer);
    expect(await customer.show({ topup_id: failed })).toMatchObject({ status: 'failed', failure_code: 'of_the_test' });
    expect(await customer.told()).toEqual(['topup.failed']);
    const again = await customer.topup(keyed);
    expect(again).toMatchObject({ status: 'pending' });
    expect(again.topup_id).not.toBe(failed);
    expect(await payIfThere(failed as string)).toBe(isMade);
    const shown = (await customer.check({ topup_id: failed })).status;
    expect(shown).toBe(isMade ? 'succeeded' : 'failed');
    await customer.expectSound();
  },
);
