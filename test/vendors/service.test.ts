// The vendor core in services: two processes on one database, whose file names two vendors that are real HTTP servers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clip } from '../fixtures/clip/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

interface Double {
  readonly url: string;
  status: number;
  calls: number;
  close(): void;
}

let folder: string;
let database: TestDatabase;
let acme: Double;
let bolt: Double;
let services: [TestService, TestService];
let here: Client;
let there: Client;
const env = { VENDORS_FILE: '' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-vendors-'));
  [acme, bolt] = (await Promise.all([startDouble(), startDouble()])) as [Double, Double];
  env.VENDORS_FILE = join(folder, 'vendors.yaml');
  await writeFile(env.VENDORS_FILE, fileOf());
  database = await createTestDatabase();
  services = [await start(), await start()];
  const { secret } = await createTestAccount(services[0].core);
  [here, there] = services.map(({ url }) => client(url, secret)) as [Client, Client];
});
afterAll(async () => {
  for (const service of services) await service.stop();
  await database.drop();
  acme.close();
  bolt.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  for (const double of [acme, bolt]) Object.assign(double, { status: 200, calls: 0 });
});

async function startDouble(): Promise<Double> {
  const server: Server = createServer((req, res) => {
    req.resume();
    double.calls += 1;
    res.writeHead(double.status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const double: Double = { url, status: 200, calls: 0, close: () => server.close() };
  return double;
}

const fileOf = (more = '') => `version: 1
vendors:
  - { id: acme, adapter: reel, base_url: "${acme.url}", region: western, priority: 1, models: [{ id: m, price: { per_clip: 0.1 } }] }
  - { id: bolt, adapter: reel, base_url: "${bolt.url}", region: local, models: [{ id: m, price: { per_clip: 0.12 } }] }
${more}`;

const start = (settings: Record<string, string> = env, on: TestDatabase | undefined = database) =>
  startTestService({ database: on, env: settings, extraModules: [clip] });

const make = async (call: Client, input = {}) => {
  const { status, body } = await call('POST', '/v1/clip/make', input);
  const { vendor, markup_pct, failover_info } = body.metadata;
  return { status, clip: body.data?.clip, code: body.error?.code, vendor, markup_pct, failover_info };
};
const vendorsIn = async (call: Client) => (await call('GET', '/v1/discovery/clip.make?view=full')).body.data;
const liveInList = async (call: Client) => {
  const { capabilities } = (await call('GET', '/v1/discovery')).body.data;
  return capabilities.find(({ id }: { id: string }) => id === 'clip.make').vendors_live;
};

describe('a call', () => {
  test('is served by the first of its chain, and says by whom and with which markup', async () => {
    expect(await make(here)).toMatchObject({
      clip: 'by acme',
      vendor: 'acme',
      markup_pct: 0.05,
      failover_info: undefined,
    });
    expect([acme.calls, bolt.calls]).toEqual([1, 0]);
  });

  test('goes on to the next when the first is down, and says so', async () => {
    acme.status = 503;
    expect(await make(here)).toMatchObject({
      clip: 'by bolt',
      vendor: 'bolt',
      markup_pct: 0,
      failover_info: {
        primary_vendor: 'acme',
        actual_vendor: 'bolt',
        primary_model: 'm',
        actual_model: 'm',
        cost_at_primary: 0.105,
        cost_at_actual: 0.12,
        cost_multiplier: 1.142857,
        failover_reason: 'VENDOR_DOWN',
        fallback_chain_depth: 1,
      },
    });
    expect([acme.calls, bolt.calls]).toEqual([1, 1]);
  });

  test('that pins a vendor fails over to nobody, neither does one that it refuses', async () => {
    acme.status = 503;
    expect(await make(here, { vendor: 'acme' })).toMatchObject({ status: 503, code: 'VENDOR_DOWN' });
    acme.status = 400;
    expect(await make(here)).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(bolt.calls).toBe(0);
  });

  test('never comes to the sandbox but by its name', async () => {
    [acme.status, bolt.status] = [503, 503];
    expect(await make(here)).toMatchObject({ status: 503, code: 'VENDOR_DOWN' });
    expect(await make(here, { model: 'sandbox/card-1' })).toMatchObject({
      clip: 'by sandbox',
      vendor: 'sandbox',
      markup_pct: 0,
    });
  });
});

describe('discovery', () => {
  test('names the vendors that there are, with their models and the lowest price', async () => {
    expect(await vendorsIn(here)).toMatchObject({
      vendors_live: ['acme', 'bolt', 'sandbox'],
      vendors: [
        { vendor: 'acme', region: 'western', up: true, models: ['m'], price_usd: 0.105 },
        { vendor: 'bolt', region: 'western', up: true, models: ['m'], price_usd: 0.12 },
        { vendor: 'sandbox', region: 'western', up: true, models: ['card-1'], price_usd: 0.001 },
      ],
    });
    expect(await liveInList(here)).toEqual(['acme', 'bolt', 'sandbox']);
    expect((await here('GET', '/v1/discovery/queue.publish?view=full')).body.data.vendors_live).toEqual(['self']);
  });

  test('of both processes shows what one has found to be down; nobody asks it then', async () => {
    acme.status = 503;
    while ((await vendorsIn(here)).vendors_live.includes('acme')) await make(here, { vendor: 'acme' });
    await expect.poll(async () => (await vendorsIn(there)).vendors_live).toEqual(['bolt', 'sandbox']);
    expect(await liveInList(there)).toEqual(['bolt', 'sandbox']);
    acme.calls = 0;
    expect(await make(there)).toMatchObject({ vendor: 'bolt', failover_info: { failover_reason: 'VENDOR_DOWN' } });
    expect(acme.calls).toBe(0);
    acme.status = 200;
    await services[0].advance(16);
    await expect.poll(async () => (await make(there)).vendor).toBe('acme');
    await expect.poll(async () => (await vendorsIn(here)).vendors_live).toContain('acme');
  });
});

describe('the start is refused', () => {
  const refusal = async (text: string) => {
    const path = join(folder, 'other.yaml');
    await writeFile(path, text);
    return start({ VENDORS_FILE: path }).then(
      () => 'started',
      (error: Error) => `${error.name}: ${error.message.replaceAll(folder, '')}`,
    );
  };

  test('by a file with faults, which are told all at once', async () => {
    expect(await refusal('version: 2\nvendors:\n  - { id: acme }\n')).toMatch(
      /^ConfigError: VENDORS_FILE has \d faults\n {2}\/other.yaml:1:1: version: It must be 1\.\n {2}\/other.yaml:3:5: vendors\[0\]\.adapter: It is missing\./,
    );
  });

  test('by a file that is named and not there', async () => {
    const missing = start({ VENDORS_FILE: join(folder, 'none.yaml') });
    await expect(missing).rejects.toThrow(/^VENDORS_FILE cannot be read: ENOENT/);
  });
});
