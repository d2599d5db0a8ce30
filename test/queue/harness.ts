// One service and helpers for tests of queues over HTTP. Every helper answers `data` of a success and fails the test otherwise.
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { type Client, client, createTestAccount, type TestAccount, type TestService } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Fields = Record<string, unknown>;

/** What an account has spent and caused so far. */
export interface Books {
  readonly spentNanos: bigint;
  readonly ledgerEntries: number;
  /** Types of the events, counted. */
  readonly events: Record<string, number>;
}

export const PUBLISH_NANOS = 20_000n;

export class QueueBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start(options: { database?: TestDatabase; account?: TestAccount } = {}): Promise<QueueBench> {
    const service = await lendService({ database: options.database });
    return new QueueBench(service, options.account ?? (await createTestAccount(service.core)));
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<QueueBench> {
    return new QueueBench(this.service, await createTestAccount(this.service.core, usd));
  }

  stop(): Promise<void> {
    return this.service.stop();
  }

  advance(seconds: number): Promise<void> {
    return this.service.advance(seconds);
  }

  async ok(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** The error of a call that must fail. */
  async fails(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.body.ok, reply.text).toBe(false);
    return reply.body.error;
  }

  create(name: string, settings: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/queue/create', { name, ...settings });
  }

  /** A queue with a dead-letter queue `${name}-dead`. */
  async createWithDlq(name: string, settings: Fields = {}): Promise<void> {
    await this.create(`${name}-dead`, settings.type === undefined ? {} : { type: settings.type });
    await this.create(name, { dead_letter_queue: `${name}-dead`, ...settings });
  }

  update(name: string, settings: Fields): Promise<Data> {
    return this.ok('PATCH', `/v1/queue/update/${name}`, settings);
  }

  publish(queue: string, payload: unknown = {}, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/queue/publish', { queue, payload, ...fields });
  }

  batch(queue: string, items: readonly Fields[]): Promise<Data> {
    return this.ok('POST', '/v1/queue/batch/publish', { queue, items });
  }

  async consume(queue: string, fields: Fields = {}): Promise<Data[]> {
    return (await this.ok('POST', '/v1/queue/consume', { queue, max_messages: 10, ...fields })).items;
  }

  /** Payloads in the order delivered. */
  async payloads(queue: string, fields: Fields = {}): Promise<Data[]> {
    return (await this.consume(queue, fields)).map((item) => item.payload);
  }

  ack(queue: string, receipt: string): Promise<Data> {
    return this.ok('POST', '/v1/queue/ack', { queue, receipt_handle: receipt });
  }

  nack(queue: string, receipt: string, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/queue/nack', { queue, receipt_handle: receipt, ...fields });
  }

  extend(queue: string, receipt: string, seconds: number): Promise<Data> {
    return this.ok('POST', '/v1/queue/extend', { queue, receipt_handle: receipt, visibility_timeout: seconds });
  }

  stats(queue: string): Promise<Data> {
    return this.ok('GET', `/v1/queue/stats/${queue}`);
  }

  /** available / in flight / delayed / dead. */
  async counts(queue: string): Promise<number[]> {
    const stats = await this.stats(queue);
    return [stats.available_count, stats.in_flight_count, stats.delayed_count, stats.dlq_count];
  }

  async peek(queue: string, limit = 10): Promise<Data[]> {
    return (await this.ok('GET', `/v1/queue/peek/${queue}?limit=${limit}`)).items;
  }

  async dead(queue: string): Promise<Data[]> {
    return (await this.ok('GET', `/v1/queue/dlq/list/${queue}?limit=100`)).items;
  }

  redrive(queue: string, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', `/v1/queue/dlq/redrive/${queue}`, fields);
  }

  async books(): Promise<Books> {
    const { rows } = await this.service.core.db.query<{ spent: bigint; entries: bigint }>(
      {
        name: 'test_queue_books',
        text: `SELECT coalesce(-sum(amount_nanos), 0) AS spent, count(*) AS entries FROM core.ledger
                WHERE account_id = $1 AND kind IN ('charge', 'capture', 'reversal')`,
      },
      [this.account.accountId],
    );
    const events = await this.service.core.db.query<{ type: string; events: bigint }>(
      {
        name: 'test_queue_events',
        text: `SELECT type, count(*) AS events
                 FROM (SELECT type FROM core.event WHERE account_id = $1 UNION ALL SELECT type FROM core.event_outbox WHERE account_id = $1) e
                GROUP BY type`,
      },
      [this.account.accountId],
    );
    const [row] = rows as [{ spent: bigint; entries: bigint }];
    return {
      spentNanos: row.spent,
      ledgerEntries: Number(row.entries),
      events: Object.fromEntries(events.rows.map(({ type, events: count }) => [type, Number(count)])),
    };
  }

  /** Runs `work`, which must charge `messages` publishes and emit exactly `events`. Answers what `work` does. */
  async costing<T>(messages: number, events: Record<string, number>, work: () => Promise<T>): Promise<T> {
    const before = await this.books();
    const result = await work();
    const after = await this.books();
    expect(after.spentNanos - before.spentNanos, 'spent').toBe(BigInt(messages) * PUBLISH_NANOS);
    if (messages === 0) expect(after.ledgerEntries, 'ledger entries').toBe(before.ledgerEntries);
    const told = Object.entries(after.events).map(
      ([type, count]) => [type, count - (before.events[type] ?? 0)] as const,
    );
    expect(Object.fromEntries(told.filter(([, count]) => count > 0)), 'events').toEqual(events);
    return result;
  }
}
