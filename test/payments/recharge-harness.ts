// A customer whose wallet recharges itself: what it spends, and a look at it when a test says so.
import { expect } from 'vitest';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { lookAtWallet } from '../../src/payments/recharge/begin.ts';
import { lastAttempt } from '../../src/payments/recharge/store.ts';
import { runAttempt } from '../../src/payments/recharge/work.ts';
import type { PaymentProvider } from '../../src/vendors/payments/port.ts';
import type { CardKind } from './conformance.ts';
import { Customer, type Till } from './harness.ts';

export const USD = 10n ** 9n;
const LEASE_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Body = any;

export class Recharged {
  readonly #till: Till;
  readonly customer: Customer;

  constructor(till: Till, customer: Customer) {
    this.#till = till;
    this.customer = customer;
  }

  /** With a card, `usd` of credit, and 25 USD charged below 5. */
  static async open(till: Till, { usd = 10, card = 'pays', ...input }: Body = {}): Promise<Recharged> {
    const recharged = new Recharged(till, await Customer.open(till, usd));
    await recharged.leave(card);
    const { status, body } = await recharged.configure(input);
    expect(status, JSON.stringify(body)).toBe(200);
    return recharged;
  }

  get accountId(): string {
    return this.customer.account.accountId;
  }

  /** A person leaves a card at the provider's page. */
  async leave(card: CardKind): Promise<void> {
    const { body } = await this.customer.call('POST', '/v1/account/payment_method/attach', {});
    await this.#till.bench.pay(body.data.checkout_url, card);
    const back = `${this.#till.service.url}/pay/return/${body.data.setup_id}`;
    expect((await fetch(back)).status).toBe(200);
  }

  configure(input: object = {}) {
    const usual = { trigger_balance: 5, recharge_amount: 25 };
    return this.customer.call('PUT', '/v1/account/autorecharge/configure', { ...usual, ...input });
  }

  async spend(nanos: bigint): Promise<void> {
    const { db, prices } = this.#till.service.core;
    await db.transaction(async (tx) => {
      const opened = await openWallet(tx, this.accountId);
      if (opened === null) throw new Error('the account of the test is gone');
      const work = { capability: 'queue.publish', keyId: this.customer.account.keyId, units: nanos / 20_000n };
      expect(await chargeWork(tx, opened, prices, [work])).toMatchObject([{ charged: true }]);
    });
  }

  /** What a worker does that finds the wallet due now; `provider`: another one than the sandbox. Answers the last attempt. */
  async look(provider: PaymentProvider | null = this.#till.service.core.payments.provider) {
    const { core } = this.#till.service;
    const attempt = await core.db.transaction((tx) => lookAtWallet(tx, this.accountId, provider, LEASE_MS));
    if (attempt !== null) await runAttempt({ ...core, payments: { ...core.payments, provider } }, attempt);
    return lastAttempt(core.db, this.accountId);
  }

  async show(): Promise<Body> {
    return (await this.customer.call('GET', '/v1/account/autorecharge/get')).body.data;
  }

  async balance(): Promise<number> {
    return (await this.customer.balance()).balance_usd;
  }

  /** How many payments the sandbox made for it. */
  async paymentsMade(): Promise<number> {
    const text = `SELECT count(*)::int AS n FROM core.sandbox_payment WHERE account_id = $1 AND purpose = 'charge'`;
    const { rows } = await this.#till.service.core.db.query<{ n: number }>({ name: 'test_charges', text }, [
      this.accountId,
    ]);
    return rows[0]?.n ?? 0;
  }
}

/** The provider, but for what is given here. */
export function providerWith(
  provider: PaymentProvider,
  over: Partial<Pick<PaymentProvider, 'charge' | 'findCharge' | 'read'>>,
): PaymentProvider {
  return new Proxy(provider, {
    get(target, name) {
      const own = (over as Record<string | symbol, unknown>)[name];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
