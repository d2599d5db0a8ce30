// A service with the sandbox, an account whose key tops up, and what happens to its payments.
import { expect } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { checkTopup } from '../../src/payments/topups/check.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import type { StripeEvent } from '../support/stripe/account.ts';
import { SECRET_KEY, StripeDouble, WEBHOOK_SECRET } from '../support/stripe/double.ts';
import type { CardKind, ProviderBench } from './conformance.ts';
import { sandboxBench } from './sandbox-bench.ts';
import { stripeBench } from './stripe-bench.ts';

export interface Till {
  readonly service: TestService;
  readonly bench: ProviderBench;
  close(): Promise<void>;
}

export async function openTill(env: Record<string, string> = {}): Promise<Till> {
  // What is due runs when a test says so.
  const service = await startTestService({ env: { ROLES: 'web,render', ...env } });
  const bench = sandboxBench(service.core.db, service.url, (seconds) => service.advance(seconds));
  return { service, bench, close: () => service.stop() };
}

export interface StripeTill extends Till {
  readonly double: StripeDouble;
  /** Stripe's message of an event, as the service answers it. */
  send(event: StripeEvent, over?: { headers?: Record<string, string>; body?: string }): Promise<Response>;
}

/** The same, where Stripe takes the payments. */
export async function openStripeTill(env: Record<string, string> = {}): Promise<StripeTill> {
  const double = await StripeDouble.start();
  const settings = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: double.url,
  };
  const service = await startTestService({ env: { ROLES: 'web,render', ...settings, ...env } });
  const { advance, ...bench } = stripeBench(double);
  const both = async (seconds: number) => {
    await Promise.all([service.advance(seconds), advance(seconds)]);
  };
  return {
    service,
    double,
    bench: { ...bench, advance: both },
    send(event, over = {}) {
      const { headers, body } = double.message(event);
      const sent = { headers: { ...headers, ...over.headers }, body: over.body ?? body };
      return fetch(`${service.url}/webhooks/stripe`, { method: 'POST', ...sent });
    },
    async close() {
      await service.stop();
      await double.stop();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Body = any;

export class Customer {
  readonly #till: Till;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(till: Till, account: TestAccount) {
    this.#till = till;
    this.account = account;
    this.call = client(till.service.url, account.secret);
  }

  static async open(till: Till, usd = 0): Promise<Customer> {
    return new Customer(till, await createTestAccount(till.service.core, usd));
  }

  async topup(input: object = {}): Promise<Body> {
    const { status, body } = await this.call('POST', '/v1/account/topup', input);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  /** Pays at the link. */
  async pay(topup: Body, card: CardKind = 'pays'): Promise<void> {
    await this.#till.bench.pay(topup.checkout_url, card);
  }

  /** Has the payment read at the provider, and applied. */
  async check(topup: Body): Promise<Body> {
    const { core } = this.#till.service;
    await checkTopup(core, { accountId: this.account.accountId, id: topup.topup_id, attempt: -1 });
    return this.show(topup);
  }

  async paid(input: object = {}, card: CardKind = 'pays'): Promise<Body> {
    const topup = await this.topup(input);
    await this.pay(topup, card);
    return this.check(topup);
  }

  async show({ topup_id }: Body): Promise<Body> {
    return (await this.call('GET', `/v1/account/topup/get/${topup_id}`)).body.data;
  }

  async balance(): Promise<Body> {
    return (await this.call('GET', '/v1/account/balance')).body.data;
  }

  /** The provider's name of the payment. */
  async paymentRef({ topup_id }: Body): Promise<string> {
    const { rows } = await this.#till.service.core.db.query<{ payment_ref: string }>(paymentRef, [topup_id]);
    return rows[0]?.payment_ref as string;
  }

  /** Types of its events of payments, oldest first; all are as described. */
  async told(): Promise<string[]> {
    const events = await allEvents(this.call);
    expect(events.flatMap(eventFaults)).toEqual([]);
    return events
      .map(({ type }) => type)
      .filter((type) => type.startsWith('topup.'))
      .reverse();
  }

  async expectSound(): Promise<void> {
    const { db } = this.#till.service.core;
    expect(await examineAccount({ db, secrets: null, modules: [] }, this.account.accountId)).toEqual([]);
  }
}

const paymentRef = statement('test_payment_ref', 'SELECT payment_ref FROM core.topup WHERE topup_id = $1');
