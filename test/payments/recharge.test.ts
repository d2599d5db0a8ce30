// Auto-recharge with the sandbox: what has a wallet charged, what keeps it from being charged, and what becomes of every answer.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { lookAgain } from '../../src/payments/look-again.ts';
import { limitCharges } from '../../src/payments/recharge/configure.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { type ChargeRequest, type PaymentProvider, PaymentProviderError } from '../../src/vendors/payments/port.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { startTestService } from '../support/service.ts';
import { untilTimeOfDay } from '../support/time-of-day.ts';
import { openTill, type Till } from './harness.ts';
import { providerWith, Recharged, USD } from './recharge-harness.ts';

let till: Till;
let sandbox: PaymentProvider;
beforeAll(async () => {
  till = await openTill();
  sandbox = till.service.core.payments.provider as PaymentProvider;
});
afterAll(() => till?.close());

const HOUR = 3_600;
const NOON = 12 * HOUR;

/** What webhooks are told of auto-recharge, oldest first, as described. */
async function told({ customer }: Recharged) {
  const events = (await allEvents(customer.call)).filter(({ type }) => type.startsWith('autorecharge.'));
  expect(events.flatMap(eventFaults)).toEqual([]);
  return events.reverse().map(({ type, data }) => ({ type, object: data.object as Record<string, unknown> }));
}

describe('a wallet below its trigger', () => {
  test('is charged for and credited once, and told', async () => {
    const wallet = await Recharged.open(till, { usd: 5 });
    expect(await wallet.show()).toMatchObject({ enabled: true, next_attempt_at: null });
    expect(await wallet.look()).toBeNull();
    await wallet.spend(20_000n);
    expect((await wallet.show()).next_attempt_at).not.toBeNull();
    expect(await wallet.look()).toMatchObject({ status: 'succeeded', amount_nanos: 25n * USD });
    await wallet.look();
    expect(await wallet.balance()).toBe(29.99998);
    const shown = await wallet.show();
    expect(shown).toMatchObject({
      charged_today: 1,
      charged_this_month: 1,
      charged_this_month_usd: 25,
      next_attempt_at: null,
      last_attempt: { status: 'succeeded', amount_usd: 25, failure_code: null, test_mode: true },
    });
    const events = await told(wallet);
    expect(events).toEqual([{ type: 'autorecharge.charged', object: expect.objectContaining(shown.last_attempt) }]);
    await wallet.customer.expectSound();
  });

  test('by a call, a hold, an expired grant or a configuration: each says that it is due', async () => {
    const { core } = till.service;
    const byCall = await Recharged.open(till, { usd: 5 });
    await byCall.customer.call('POST', '/v1/queue/create', { name: 'jobs' });
    await byCall.customer.call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
    const byConfiguration = await Recharged.open(till, { usd: 4 });
    const byExpiry = await Recharged.open(till, { usd: 1, trigger_balance: 1 });
    await core.db.transaction((tx) =>
      grantCredit(tx, byExpiry.accountId, { kind: 'promo', amountNanos: USD, expiresInMs: 1_000, note: null }),
    );
    await byExpiry.spend(USD / 2n);
    expect((await byExpiry.show()).next_attempt_at).toBeNull();
    await till.service.advance(2);
    await byExpiry.spend(USD / 4n);
    for (const wallet of [byCall, byConfiguration, byExpiry])
      expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
  });

  test('is charged at most once a minute, and a day and a month as often as configured', async () => {
    await untilTimeOfDay(till.service, NOON);
    const wallet = await Recharged.open(till, { usd: 1, recharge_amount: 5, trigger_balance: 100, max_per_day: 2 });
    await wallet.look();
    await wallet.look();
    expect(await wallet.paymentsMade()).toBe(1);
    await till.service.advance(61);
    await wallet.look();
    await till.service.advance(61);
    await wallet.look();
    expect(await wallet.paymentsMade()).toBe(2);
    const { next_attempt_at } = await wallet.show();
    expect(next_attempt_at).toMatch(/T00:00:00.000Z$/);
    await till.service.advance(24 * HOUR);
    await wallet.look();
    expect(await wallet.paymentsMade()).toBe(3);
    await wallet.customer.expectSound();
  });

  test('is charged no more than the charge limit of a month, and a larger amount is not taken', async () => {
    await untilTimeOfDay(till.service, NOON);
    const wallet = await Recharged.open(till, { usd: 1, recharge_amount: 300, trigger_balance: 1_000 });
    await wallet.look();
    await till.service.advance(61);
    await wallet.look();
    expect(await wallet.show()).toMatchObject({ charged_this_month: 1, charge_limit_usd: 500 });
    const { status, body } = await wallet.configure({ recharge_amount: 500.01 });
    expect([status, body.error.code, body.error.code_detail]).toEqual([402, 'PAYMENT_DECLINED', 'charge_limit']);
    await till.service.core.db.transaction((tx) => limitCharges(tx, wallet.accountId, 600n * USD));
    await wallet.look();
    expect(await wallet.paymentsMade()).toBe(2);
  });

  test('is left alone while suspended, and looked at when it is let through again', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const suspend = (suspended: boolean) =>
      till.service.core.db.transaction((tx) => setSuspended(tx, wallet.accountId, suspended));
    await suspend(true);
    expect(await wallet.look()).toBeNull();
    await suspend(false);
    expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
  });

  test('is left alone while its budget is used up, and looked at when it is raised', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const budget = (hard_cap_usd: number) =>
      wallet.customer.call('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd });
    await wallet.spend(USD);
    await budget(1);
    expect(await wallet.look()).toBeNull();
    await budget(2);
    expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
  });

  test('is not charged for any more once it is disabled', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    await wallet.configure({ enabled: false });
    expect(await wallet.look()).toBeNull();
    expect(await wallet.show()).toMatchObject({ enabled: false, next_attempt_at: null });
  });
});

describe('a charge that failed', () => {
  test('is tried again after 1 hour, then 6; the third in a row disables it, and configuring enables it', async () => {
    const wallet = await Recharged.open(till, { usd: 4, card: 'declines_later' });
    expect(await wallet.look()).toMatchObject({ status: 'failed', failure_code: 'card_declined' });
    for (const hours of [1, 6]) {
      await till.service.advance(hours * HOUR - 5);
      await wallet.look();
      expect(await wallet.show()).toMatchObject({ enabled: true, charged_today: 0 });
      await till.service.advance(10);
      await wallet.look();
    }
    expect(await wallet.show()).toMatchObject({
      enabled: false,
      disabled_reason: 'failed_three_times',
      next_attempt_at: null,
      last_attempt: { status: 'failed', failure_code: 'card_declined' },
    });
    const mails = await listMails(till.service.core.db, { limit: 50 });
    const own = mails.filter(({ text }) => text.includes(wallet.accountId));
    const again = 'An automatic recharge failed';
    expect(own.map(({ subject }) => subject)).toEqual(['Auto-recharge is disabled', again, again]);
    expect(own[0]?.text).toMatch(/25 USD.*card_declined[\s\S]*account\.topup/);
    expect(
      (await told(wallet)).map(({ type, object }) => [type, object.will_retry_at, object.disabled_reason]),
    ).toEqual([
      ['autorecharge.failed', expect.any(String), null],
      ['autorecharge.failed', expect.any(String), null],
      ['autorecharge.failed', null, 'failed_three_times'],
    ]);
    await wallet.leave('pays');
    await wallet.configure();
    expect(await wallet.show()).toMatchObject({ enabled: true, disabled_reason: null });
  });

  test('because its owner must authenticate disables it at once', async () => {
    const wallet = await Recharged.open(till, { usd: 4, card: 'authenticates' });
    await wallet.look();
    expect(await wallet.show()).toMatchObject({ enabled: false, disabled_reason: 'authentication_required' });
  });

  test('because the provider has no such method disables it, and the method is gone here too', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const text = 'UPDATE core.sandbox_method SET detached = true WHERE account_id = $1';
    await till.service.core.db.query({ name: 'test_detach', text }, [wallet.accountId]);
    await wallet.look();
    expect(await wallet.show()).toMatchObject({ enabled: false, disabled_reason: 'method_gone' });
    expect((await wallet.customer.call('GET', '/v1/account/payment_method/list')).body.data.items).toEqual([]);
  });

  test('for good does not stop one that succeeds from clearing what had failed', async () => {
    const wallet = await Recharged.open(till, { usd: 4, card: 'declines_later' });
    await wallet.look();
    await wallet.leave('pays');
    const { items } = (await wallet.customer.call('GET', '/v1/account/payment_method/list')).body.data;
    await wallet.configure({ payment_method_id: items[1].payment_method_id });
    await till.service.advance(61);
    expect(await wallet.look()).toMatchObject({ status: 'succeeded', method_id: items[1].payment_method_id });
  });
});

describe('a charge without a decision', () => {
  test('stays the only one, and is credited when the bank has paid', async () => {
    const wallet = await Recharged.open(till, { usd: 4, card: 'slow' });
    await wallet.look();
    expect((await wallet.show()).last_attempt).toMatchObject({ status: 'pending' });
    await till.service.advance(6);
    await wallet.look();
    expect(await wallet.show()).toMatchObject({ charged_today: 1, next_attempt_at: null });
    await till.service.advance(26);
    expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
    expect(await wallet.paymentsMade()).toBe(1);
    expect(await wallet.balance()).toBe(29);
    await wallet.customer.expectSound();
  });

  test('whose answer is lost is repeated under its id: one payment, one credit', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    let asked = 0;
    const losing = providerWith(sandbox, {
      charge: async (request) => {
        asked += 1;
        const state = await sandbox.charge(request);
        if (asked < 3) throw new PaymentProviderError('unknown', 'connection_lost');
        return state;
      },
    });
    for (const seconds of [0, 6, 11]) {
      await till.service.advance(seconds);
      await wallet.look(losing);
    }
    expect([asked, await wallet.paymentsMade(), await wallet.balance()]).toEqual([3, 1, 29]);
    await wallet.customer.expectSound();
  });

  test('that died between charge and commit is credited by who comes next', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const dies = providerWith(sandbox, {
      charge: async (request) => {
        await sandbox.charge(request);
        throw new Error('killed');
      },
    });
    await expect(wallet.look(dies)).rejects.toThrow('killed');
    await till.service.advance(121);
    expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
    expect([await wallet.paymentsMade(), await wallet.balance()]).toEqual([1, 29]);
  });

  test.each([
    ['was made all the same is credited', true],
    ['was never made has failed', false],
  ])('is only looked up after 23 hours: what %s', async (_, isMade) => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const silent = providerWith(sandbox, {
      charge: async (request: ChargeRequest) => {
        if (isMade) await sandbox.charge(request);
        throw new PaymentProviderError('unknown', 'connection_lost');
      },
    });
    await wallet.look(silent);
    await till.service.advance(23 * HOUR);
    const charge = vi.fn();
    const attempt = await wallet.look(providerWith(sandbox, { charge }));
    expect(charge).not.toHaveBeenCalled();
    expect(attempt).toMatchObject(isMade ? { status: 'succeeded' } : { status: 'failed', failure_code: 'no_answer' });
    expect(await wallet.balance()).toBe(isMade ? 29 : 4);
  });

  test('that is refused later, after a try that may have charged, is looked up before it is given up', async () => {
    const wallet = await Recharged.open(till, { usd: 4 });
    const refuses = providerWith(sandbox, {
      charge: async () => {
        throw new PaymentProviderError('refused', 'api_key_expired');
      },
    });
    const loses = providerWith(sandbox, {
      charge: async (request) => {
        await sandbox.charge(request);
        throw new PaymentProviderError('unknown', 'connection_lost');
      },
    });
    await wallet.look(loses);
    await till.service.advance(6);
    expect(await wallet.look(refuses)).toMatchObject({ status: 'succeeded' });
    const other = await Recharged.open(till, { usd: 4 });
    expect(await other.look(refuses)).toMatchObject({ status: 'failed', failure_code: 'api_key_expired' });
  });
});

test('a worker of any process charges what another one made due, and reads what a hint names', async () => {
  const worker = await startTestService({ database: till.service.database, env: { ROLES: 'work,render' } });
  try {
    const [plain, slow] = [
      await Recharged.open(till, { usd: 5 }),
      await Recharged.open(till, { usd: 5, card: 'slow' }),
    ];
    await Promise.all([plain.spend(20_000n), slow.spend(20_000n)]);
    await vi.waitFor(async () => expect(await plain.balance()).toBe(29.99998), { timeout: 50_000 });
    await vi.waitFor(async () => expect((await slow.show()).last_attempt?.status).toBe('pending'), { timeout: 50_000 });
    await till.service.advance(31);
    const { attempt_id } = (await slow.show()).last_attempt;
    expect(await lookAgain(till.service.core.db, attempt_id)).toMatchObject({ kind: 'recharge' });
    await vi.waitFor(async () => expect(await slow.balance()).toBe(29.99998), { timeout: 50_000 });
  } finally {
    await worker.stop();
  }
});
