// A customer whose account buys a tier, and what it is told of that.
import { expect } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { checkSubscription } from '../../src/payments/subscriptions/check.ts';
import { allEvents, eventFaults, type TestEvent } from '../support/events.ts';
import type { CardKind } from './conformance.ts';
import { Customer, type Till } from './harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Body = any;

export const HOUR = 3_600;
export const DAY = 24 * HOUR;

export class Subscriber {
  readonly #till: Till;
  readonly customer: Customer;

  constructor(till: Till, customer: Customer) {
    this.#till = till;
    this.customer = customer;
  }

  static async open(till: Till): Promise<Subscriber> {
    return new Subscriber(till, await Customer.open(till));
  }

  async ok(method: 'GET' | 'POST', path: string, input?: object): Promise<Body> {
    const { status, body } = await this.customer.call(method, `/v1/account/${path}`, input);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  }

  upgrade(target = 'pro', input: object = {}): Promise<Body> {
    return this.ok('POST', 'tier/upgrade', { target, ...input });
  }

  get(): Promise<Body> {
    return this.ok('GET', 'subscription/get');
  }

  /** Has it read at the provider, and applied. */
  async check(): Promise<Body> {
    const { subscription_id: id } = await this.get();
    await checkSubscription(this.#till.service.core, this.customer.account.accountId, id);
    return this.get();
  }

  async subscribed(card: CardKind = 'pays', target = 'pro'): Promise<Body> {
    const { checkout_url } = await this.upgrade(target);
    await this.#till.bench.pay(checkout_url, card);
    return this.check();
  }

  /** To `seconds` after the end of the period that runs. */
  async passPeriod(seconds = 1): Promise<Body> {
    const { current_period_end: end } = await this.get();
    await this.#till.bench.advance(Math.ceil((Date.parse(end) - (await this.#till.bench.nowMs())) / 1_000) + seconds);
    return this.check();
  }

  async tier(): Promise<string> {
    return (await this.ok('GET', 'tier')).tier;
  }

  /** Its newest as the provider has it, once the checks have told that what is wished. */
  async atProvider() {
    const { accountId } = this.customer.account;
    const { rows } = await this.#till.service.core.db.query<{ ref: string; wish: null }>(newestRef, [accountId]);
    expect(rows[0]?.wish).toBeNull();
    return this.#till.bench.provider.readSubscription(rows[0]?.ref as string);
  }

  /** Its events of subscriptions and tiers, oldest first, however old; those that are listed are as described. */
  async events(): Promise<TestEvent[]> {
    const { accountId } = this.customer.account;
    expect((await allEvents(this.customer.call)).flatMap(eventFaults)).toEqual([]);
    const { rows } = await this.#till.service.core.db.query<{ type: string; data: string }>(eventRows, [accountId]);
    return rows
      .filter(({ type }) => type.startsWith('subscription.') || type.startsWith('tier.'))
      .map(({ type, data }) => ({ type, data: JSON.parse(data) }));
  }

  async told(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type);
  }
}

const newestRef = statement(
  'test_subscription_newest',
  'SELECT subscription_ref AS ref, wish FROM core.subscription WHERE account_id = $1 ORDER BY subscription_id DESC LIMIT 1',
);
const eventRows = statement(
  'test_events_of',
  'SELECT type, data FROM core.event WHERE account_id = $1 ORDER BY sequence',
);
