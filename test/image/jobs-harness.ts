// A service that makes images of words, in its sandbox and at vendors that are servers of the test.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { eventually } from '../cron/harness.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Data = any;

/** What a vendor is asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  /** JSON, or the form as it was sent. */
  readonly body: Data;
}

/** What it answers; null: it hangs up without an answer. */
export type Answered = { readonly status?: number; readonly json?: object; readonly bytes?: Buffer } | null;

export interface Vendor {
  readonly url: string;
  readonly asked: Asked[];
  answer: (asked: Asked) => Answered;
  close(): void;
}

export async function openVendor(answer: Vendor['answer']): Promise<Vendor> {
  const asked: Asked[] = [];
  const server: Server = createServer(async (request, reply) => {
    const bytes = await buffer(request);
    const isJson = request.headers['content-type'] === 'application/json';
    const seen: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: isJson ? JSON.parse(bytes.toString('utf8')) : bytes.toString('latin1'),
    };
    asked.push(seen);
    const said = vendor.answer(seen);
    if (said === null) return void request.socket.destroy();
    if (said.bytes !== undefined) return void reply.writeHead(200).end(said.bytes);
    reply.writeHead(said.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(said.json ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const vendor: Vendor = { url, asked, answer, close };
  return vendor;
}

export class ImageBench {
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

  static async start(entries: readonly object[] = []): Promise<ImageBench & { stop(): Promise<void> }> {
    const folder = await mkdtemp(join(tmpdir(), 'qm-images-'));
    const vendorsFile = join(folder, 'vendors.yaml');
    await writeFile(join(folder, 'key'), 'vendor-key', { mode: 0o600 });
    const vendors = entries.map((entry) => ({ api_key: { file: join(folder, 'key') }, region: 'local', ...entry }));
    await writeFile(vendorsFile, stringify({ version: 1, vendors }));
    const service = await startTestService({
      env: { ASSETS_URL: `file:${join(folder, 'assets')}`, ...(vendors.length > 0 && { VENDORS_FILE: vendorsFile }) },
    });
    const bench = new ImageBench(service, await createTestAccount(service.core, 5));
    return Object.assign(bench, {
      async stop() {
        await service.stop();
        await rm(folder, { recursive: true });
      },
    });
  }

  async another(usd = 5): Promise<ImageBench> {
    return new ImageBench(this.service, await createTestAccount(this.service.core, usd));
  }

  async ok(method: string, path: string, body?: object): Promise<Data> {
    const reply = await this.call(method, path, body);
    if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
    return reply.body.data;
  }

  generate(over: object = {}): Promise<Data> {
    return this.ok('POST', '/v1/image/generate', { prompt: 'A paper boat.', size: '256x256', ...over });
  }

  /** The job once it has ended; the clock of the tests goes on meanwhile where it waits for polls. */
  ended(id: string, { advances = false } = {}): Promise<Data> {
    return eventually(async () => {
      const job = await this.ok('GET', `/v1/image/get/${id}`);
      if (job.finished_at !== null) return job;
      if (advances) await this.service.advance(3);
      return null;
    }, 20_000);
  }

  async balance(): Promise<number> {
    return (await this.ok('GET', '/v1/account/balance')).balance_usd;
  }
}
