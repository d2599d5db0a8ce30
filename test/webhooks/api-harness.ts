// One service that may reach this machine, a receiver that listens on it, and helpers for tests of the webhook operations.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { type Client, client, createTestAccount, type Reply, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Data = any;

export const LOCAL_TARGETS = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
const ARRIVES_WITHIN_MS = 10_000;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: Data;
}

/** A real HTTP server that keeps what it was sent. */
export class Receiver {
  readonly received: Received[] = [];
  /** Status of the next answers. */
  status = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        this.received.push({ path: req.url ?? '', headers: req.headers, body, event: JSON.parse(body) });
        res.writeHead(this.status).end('seen');
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  url(path = '/hooks'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Requests to `path`, once there are `count`. */
  async arrived(path: string, count = 1): Promise<Received[]> {
    const found = () => this.received.filter((each) => each.path === path);
    await until(() => found().length >= count, `${count} requests to ${path}`);
    return found();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Waits until `holds`; fails the test with `what` when it does not come true. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadlineMs = performance.now() + ARRIVES_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`did not happen within ${ARRIVES_WITHIN_MS} ms: ${what}`);
    await sleep(20);
  }
}

/** The event of a request whose signature is right; throws otherwise. */
export function verified({ body, headers }: Received, secret: string): Data {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

/** The webhook operations as an account calls them. Every method answers `data` and fails the test when the call fails. */
export class WebhookCaller {
  readonly call: Client;
  readonly accountId: string;
  /** The key's. */
  readonly secret: string;

  constructor(url: string, account: { accountId: string; secret: string }) {
    this.call = client(url, account.secret);
    this.accountId = account.accountId;
    this.secret = account.secret;
  }

  static async of(service: TestService): Promise<WebhookCaller> {
    return new WebhookCaller(service.url, await createTestAccount(service.core));
  }

  async ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Data> {
    const reply = await this.call(method, path, body, headers);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** Status, code and param of a call that must fail. */
  async fails(method: string, path: string, body?: unknown): Promise<[number, string, string | undefined]> {
    const reply = await this.call(method, path, body);
    expect(reply.body.ok, reply.text).toBe(false);
    return failure(reply);
  }

  register(url: string, fields: Record<string, unknown> = {}): Promise<Data> {
    return this.ok('POST', '/v1/account/webhooks/register', { url, events: ['queue.dlq'], ...fields });
  }

  get(id: string): Promise<Data> {
    return this.ok('GET', `/v1/account/webhooks/get/${id}`);
  }

  update(id: string, fields: Record<string, unknown>): Promise<Data> {
    return this.ok('PATCH', `/v1/account/webhooks/update/${id}`, fields);
  }

  delete(id: string): Promise<Data> {
    return this.ok('DELETE', `/v1/account/webhooks/delete/${id}`);
  }

  test(id: string, body?: unknown): Promise<Data> {
    return this.ok('POST', `/v1/account/webhooks/test/${id}`, body);
  }

  redeliver(deliveryId: string): Promise<Data> {
    return this.ok('POST', `/v1/account/webhooks/redeliver/${deliveryId}`);
  }

  async deliveries(id: string, query = ''): Promise<Data[]> {
    return (await this.ok('GET', `/v1/account/webhooks/deliveries/${id}${query}`)).items;
  }

  /** Causes one queue.dlq event; answers the message's id. */
  async deadLetter(queue: string): Promise<string> {
    await this.ok('POST', '/v1/queue/create', { name: `${queue}-dead` });
    await this.ok('POST', '/v1/queue/create', { name: queue, dead_letter_queue: `${queue}-dead`, max_retries: 1 });
    await this.ok('POST', '/v1/queue/publish', { queue, payload: {} });
    const { items } = await this.ok('POST', '/v1/queue/consume', { queue });
    await this.ok('POST', '/v1/queue/nack', { queue, receipt_handle: items[0].receipt_handle });
    return items[0].message_id;
  }
}

export function failure({ status, body }: Reply): [number, string, string | undefined] {
  return [status, body.error?.code, body.error?.param];
}
