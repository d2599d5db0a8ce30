// Accounts with rules on one service whose clock tests move, and a receiver of the outside world that remembers what it was told.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { type Client, client, createTestAccount, type TestAccount, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Data = any;

export const ENV = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
/** As long as a slow machine needs. */
export const WAIT = { timeout: 30_000, interval: 25 };

export interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Data;
}

export class Receiver {
  readonly told: Told[] = [];
  answer: (told: Told, response: ServerResponse) => void = (_told, response) => void response.end('ok');
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const text = (await buffer(request)).toString('utf8');
      const told = { headers: request.headers, text, body: JSON.parse(text) };
      this.told.push(told);
      this.answer(told, response);
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    receiver.#server.unref();
    return receiver;
  }

  url(path = '/alerts'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export class Alerts {
  readonly service: Pick<TestService, 'core' | 'url' | 'advance'>;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(service: Alerts['service'], account: TestAccount, secret = account.secret) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, secret);
  }

  static async at(service: Alerts['service'], usd = 100): Promise<Alerts> {
    return new Alerts(service, await createTestAccount(service.core, usd));
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

  set(fields: Readonly<Record<string, unknown>>): Promise<Data> {
    return this.ok('PUT', '/v1/alerts/rule/set', { rule: 'r', ...fields });
  }

  refused(fields: Readonly<Record<string, unknown>>): Promise<(string | undefined)[]> {
    return this.fails('PUT', '/v1/alerts/rule/set', { rule: 'r', ...fields });
  }

  get(rule = 'r'): Promise<Data> {
    return this.ok('GET', `/v1/alerts/rule/get/${rule}`);
  }

  async history(rule = 'r'): Promise<Data[]> {
    return (await this.ok('GET', `/v1/alerts/history/${rule}?limit=100`)).items;
  }

  nowMs(): Promise<number> {
    return clockNow(this.service.core.db);
  }

  /** The rule once its look at the step of now is written. */
  async looked(rule = 'r'): Promise<Data> {
    const nowMs = await this.nowMs();
    return vi.waitFor(async () => {
      const found = await this.get(rule);
      expect(Date.parse(found.looked_at)).toBeGreaterThan(nowMs - found.every_seconds * 1_000);
      return found;
    }, WAIT);
  }

  /** The rule after its next step. */
  async next(rule = 'r', seconds = 60): Promise<Data> {
    await this.service.advance(seconds);
    return this.looked(rule);
  }

  /** Ingests points of a gauge, as of now. */
  async gauge(name: string, points: readonly (readonly [value: number, labels?: Record<string, string>])[]) {
    const at = new Date(await this.nowMs()).toISOString();
    const items = points.map(([value, labels = {}]) => ({ name, value, labels, timestamp: at }));
    await this.ok('POST', '/v1/metrics/ingest', { items });
  }
}
