// A service that sends text messages, in its sandbox and by carriers that are servers of the test.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { eventually } from '../cron/harness.ts';
import { allEvents, type TestEvent } from '../support/events.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Data = any;

export const SECRET = 'hush-sms';
export const PERSON = '+12025550123';

export interface SmsOptions {
  /** Entries of the file of vendors; `SECRET` stands for a secret. */
  readonly vendors?: readonly object[];
  readonly env?: Record<string, string>;
  readonly database?: TestService['database'];
}

export class SmsBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;

  constructor(service: TestService, { accountId, secret }: { accountId: string; secret: string }) {
    this.service = service;
    this.accountId = accountId;
    this.secret = secret;
    this.call = client(service.url, secret);
  }

  static async start({
    vendors = [],
    env = {},
    database,
  }: SmsOptions = {}): Promise<SmsBench & { stop(): Promise<void> }> {
    const folder = await mkdtemp(join(tmpdir(), 'qm-sms-'));
    const settings: Record<string, string> =
      vendors.length === 0 ? {} : { VENDORS_FILE: await vendorsFile(folder, vendors) };
    const service = await startTestService({
      env: { LOG_LEVEL: 'error', ...settings, ...env },
      ...(database && { database }),
    });
    const bench = new SmsBench(service, await createTestAccount(service.core, 5));
    return Object.assign(bench, {
      async stop() {
        await service.stop();
        await rm(folder, { recursive: true });
      },
    });
  }

  async another(usd = 5): Promise<SmsBench> {
    return new SmsBench(this.service, await createTestAccount(this.service.core, usd));
  }

  async ok(method: string, path: string, body?: object): Promise<Data> {
    const reply = await this.call(method, path, body);
    if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
    return reply.body.data;
  }

  send(over: object = {}): Promise<Data> {
    return this.ok('POST', '/v1/sms/send', { to: PERSON, text: 'Your table is ready.', ...over });
  }

  /** The error of a call that is refused. */
  async refused(path: string, body: object, headers?: Record<string, string>): Promise<Data> {
    const reply = await this.call('POST', path, body, headers);
    if (reply.status === 200) throw new Error(`${path} was taken: ${reply.text}`);
    return { status: reply.status, ...reply.body.error };
  }

  get(id: string): Promise<Data> {
    return this.ok('GET', `/v1/sms/get/${id}`);
  }

  /** The message once it is in the status. */
  reached(id: string, status: string, withinMs = 15_000): Promise<Data> {
    return eventually(async () => {
      const sms = await this.get(id);
      return sms.status === status ? sms : null;
    }, withinMs);
  }

  async balance(): Promise<number> {
    return (await this.ok('GET', '/v1/account/balance')).balance_usd;
  }

  async events(): Promise<TestEvent[]> {
    return (await allEvents(this.call)).filter(({ type }) => type.startsWith('sms.'));
  }

  /** Types of the events of a message, oldest first, once there are so many. */
  told(id: string, count: number): Promise<string[]> {
    return eventually(async () => {
      const of = (await this.events()).filter(({ data }) => data.object.sms_id === id);
      return of.length >= count ? of.map(({ type }) => type).reverse() : null;
    }, 15_000);
  }
}

/** The file, with its secrets in a file beside it. */
export async function vendorsFile(folder: string, entries: readonly object[]): Promise<string> {
  const path = join(folder, 'vendors.yaml');
  await writeFile(join(folder, 'secret'), SECRET, { mode: 0o600 });
  const vendors = entries.map((entry) =>
    Object.fromEntries(
      Object.entries(entry).map(([name, value]) => [name, value === SECRET ? { file: join(folder, 'secret') } : value]),
    ),
  );
  await writeFile(path, stringify({ version: 1, vendors }));
  return path;
}
