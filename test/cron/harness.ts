// One service, one account and a real receiver for tests of scheduled jobs.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Services } from '../../src/kit/services.ts';
import { modules } from '../../src/modules/index.ts';
import { examine, type Finding } from '../../src/upkeep/doctor.ts';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Fields = Record<string, unknown>;

export const LOCAL_TARGETS = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
export const RUN_NANOS = 20_000n;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Data;
}

/** A server that remembers what it was sent. `answer` decides what it says; 200 unless told otherwise. */
export class Receiver {
  readonly received: Received[] = [];
  answer: (call: Received, response: ServerResponse) => void = (_call, response) => void response.end('done');
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const call = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) };
        this.received.push(call);
        this.answer(call, response);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  url(path = '/task'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Waits until `found` answers something else than undefined, null or false, and answers that. */
export async function eventually<T>(
  found: () => T | Promise<T>,
  timeoutMs = 50_000,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await found();
    if (value !== undefined && value !== null && value !== false) return value as Exclude<T, undefined | null | false>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain`);
    await sleep(20);
  }
}

export class CronBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;
  readonly receiver: Receiver;

  constructor(service: TestService, account: TestAccount, receiver: Receiver) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
    this.receiver = receiver;
  }

  static async start(options: { database?: TestDatabase; env?: Record<string, string> } = {}): Promise<CronBench> {
    const env = { ...LOCAL_TARGETS, ...options.env };
    const service = await startTestService({ env, database: options.database });
    return new CronBench(service, await createTestAccount(service.core), await Receiver.start());
  }

  get core(): Services {
    return this.service.core;
  }

  /** The same service for an account and a receiver of its own. */
  async withAccount(usd = 100): Promise<CronBench> {
    return new CronBench(this.service, await createTestAccount(this.core, usd), await Receiver.start());
  }

  /** The same account by another key. */
  withSecret(secret: string): CronBench {
    return new CronBench(this.service, { ...this.account, secret }, this.receiver);
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.receiver.stop();
  }

  async ok(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** Code, param and code_detail of a call that must fail. */
  async fails(method: string, path: string, body?: unknown): Promise<(string | undefined)[]> {
    const { body: answer, text } = await this.call(method, path, body);
    expect(answer.ok, text).toBe(false);
    return [answer.error.code, answer.error.param, answer.error.code_detail];
  }

  /** A job for this receiver, every minute unless told otherwise. */
  create(fields: Fields = {}): Promise<Data> {
    const schedule = fields.run_at === undefined && fields.cron_expr === undefined ? { cron_expr: '* * * * *' } : {};
    return this.ok('POST', '/v1/cron/create', { task: this.receiver.url(), ...schedule, ...fields });
  }

  get(id: string): Promise<Data> {
    return this.ok('GET', `/v1/cron/get/${id}`);
  }

  update(id: string, fields: Fields): Promise<Data> {
    return this.ok('PATCH', `/v1/cron/update/${id}`, fields);
  }

  async runs(id: string): Promise<Data[]> {
    return (await this.ok('GET', `/v1/cron/runs/${id}?limit=100`)).items;
  }

  /** The time of the service, epoch milliseconds. */
  async nowMs(): Promise<number> {
    const { rows } = await this.core.db.query<{ now: number }>(
      { name: 'test_now', text: 'SELECT core.clock_now() AS now' },
      [],
    );
    return (rows[0] as { now: number }).now;
  }

  /** Moves the clock to `iso`, or by seconds. */
  async advanceTo(when: string | number): Promise<void> {
    const toMs = typeof when === 'number' ? (await this.nowMs()) + when * 1000 : Date.parse(when);
    // The clock moves by whole seconds.
    await this.service.advance(Math.max(0, Math.ceil((toMs - (await this.nowMs())) / 1000)));
  }

  /** Moves the clock to the next slot of the job, and waits until that run is over. Answers it. */
  async runNext(id: string): Promise<Data> {
    const { next_run_at: slot } = await this.get(id);
    await this.advanceTo(slot);
    return this.ended(id, slot);
  }

  /** The run of the slot, once it is over. */
  ended(id: string, slot: string): Promise<Data> {
    return eventually(async () =>
      (await this.runs(id)).find((run) => run.scheduled_at === slot && run.finished_at !== null),
    );
  }

  /** Types of the account's events and their objects, in their order. */
  async events(): Promise<{ type: string; object: Data }[]> {
    await sequenceAccount(this.core.db, this.account.accountId);
    const { items } = await this.ok('GET', '/v1/account/events/list?limit=100');
    return items.reverse().map((event: Data) => ({ type: event.type, object: event.data.object }));
  }

  async cronEvents(): Promise<{ type: string; object: Data }[]> {
    return (await this.events()).filter(({ type }) => type.startsWith('cron.'));
  }

  /** What runs have cost so far, by the ledger. */
  async spentNanos(): Promise<bigint> {
    const { rows } = await this.core.db.query<{ spent: bigint }>(
      {
        name: 'test_cron_spent',
        text: `SELECT coalesce(-sum(amount_nanos), 0) AS spent FROM core.ledger WHERE account_id = $1 AND capability = 'cron.run'`,
      },
      [this.account.accountId],
    );
    return (rows[0] as { spent: bigint }).spent;
  }

  /** What `qm doctor` finds wrong: nothing. */
  async findings(): Promise<Finding[]> {
    return (await examine({ db: this.core.db, secrets: this.core.secrets, modules })).findings;
  }
}
