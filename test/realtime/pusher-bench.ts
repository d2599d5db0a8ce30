// A service for sockets of the Pusher protocol: its accounts with their apps, and connections that are closed at the end.
import Pusher from 'pusher';
import { expect } from 'vitest';
import { type Client, client, createTestAccount, type startTestService, type TestService } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';
import { type App, PusherLine } from './pusher-line.ts';

export class PusherBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly call: Client;
  readonly app: App;
  readonly #lines: PusherLine[];

  private constructor(service: TestService, accountId: string, call: Client, app: App, lines: PusherLine[]) {
    this.service = service;
    this.accountId = accountId;
    this.call = call;
    this.app = app;
    this.#lines = lines;
  }

  static async start(options: Parameters<typeof startTestService>[0] = {}): Promise<PusherBench> {
    return PusherBench.#of(await lendService(options), []);
  }

  static async #of(service: TestService, lines: PusherLine[], usd = 5): Promise<PusherBench> {
    const { accountId, secret } = await createTestAccount(service.core, usd);
    const call = client(service.url, secret);
    const app = await call('GET', '/v1/realtime/app');
    expect(app.body.error ?? null).toBeNull();
    return new PusherBench(service, accountId, call, app.body.data, lines);
  }

  /** The same service for another account. */
  another(usd?: number): Promise<PusherBench> {
    return PusherBench.#of(this.service, this.#lines, usd);
  }

  async open(path?: string): Promise<PusherLine> {
    const line = await PusherLine.open(this.service.url, this.app.app_key, path);
    this.#lines.push(line);
    return line;
  }

  /** The server library of Pusher. */
  get server(): Pusher {
    const { hostname, port } = new URL(this.service.url);
    const { app_id: appId, app_key: key, app_secret: secret } = this.app;
    return new Pusher({ appId, key, secret, host: hostname, port, useTLS: false });
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of several capabilities
  async ok(method: string, path: string, body?: object): Promise<any> {
    const reply = await this.call(method, `/v1/realtime/${path}`, body);
    expect(reply.body.error ?? null).toBeNull();
    return reply.body.data;
  }

  publish(channel: string, event: string, data: unknown, rest: object = {}): Promise<unknown> {
    return this.ok('POST', 'publish', { channel, event, data, ...rest });
  }

  /** What webhooks would be told, in order. */
  async events(): Promise<string[]> {
    const { rows } = await this.service.core.db.query<{ type: string; data: string }>(told, [this.accountId]);
    return rows.map(({ type, data }) => {
      const { channel, user_id: user } = JSON.parse(data).object;
      return [type.replace('realtime.', ''), channel, user].filter(Boolean).join(' ');
    });
  }

  closeLines(): void {
    for (const line of this.#lines.splice(0)) line.ws.terminate();
  }

  async stop(): Promise<void> {
    this.closeLines();
    await this.service.stop();
  }
}

const told = {
  name: 'test_realtime_told',
  text: `SELECT o.type, o.data FROM core.event_outbox o WHERE o.account_id = $1 AND starts_with(o.type, 'realtime.')
         UNION ALL SELECT e.type, e.data FROM core.event e WHERE e.account_id = $1 AND starts_with(e.type, 'realtime.') ORDER BY 2`,
};
