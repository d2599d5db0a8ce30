// A module is added by its folder, a line in the list of modules and a migration: everything else follows from what it brings.
import { copyFile, cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { composeManifest } from '../../src/surfaces/documents/discovery.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { parcel } from '../fixtures/parcel/index.ts';
import { signedIn } from '../support/console.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { allEvents } from '../support/events.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { tenantFixtures } from '../support/tenant-fixtures.ts';
import { tenantLoop } from './tenant-loop.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'test/fixtures/parcel');

let migrations: string;
const databases: TestDatabase[] = [];
let service: TestService;
let accountId: string;
let call: Client;

beforeAll(async () => {
  migrations = await mkdtemp(join(tmpdir(), 'qm-migrations-'));
  await cp(join(ROOT, 'migrations'), migrations, { recursive: true });
  const next = (await readdir(migrations)).filter((name) => /^\d{4}_/.test(name)).length + 1;
  await copyFile(join(FOLDER, 'parcel.sql'), join(migrations, `${String(next).padStart(4, '0')}_parcel.sql`));
  service = await start({ PARCEL_WEIGHT_MAX: '2000' });
  const account = await createTestAccount(service.core);
  accountId = account.accountId;
  call = client(service.url, account.secret);
});
afterAll(async () => {
  await service.stop();
  for (const database of databases) await database.drop();
  await rm(migrations, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<TestService> {
  const database = await createTestDatabase();
  databases.push(database);
  return startTestService({ env, database, migrations, extraModules: [parcel] });
}

const page = async (path: string) => (await client(service.url)('GET', path)).text;

describe('a module that is added by its folder', () => {
  test('is charged at its price, in its own table, counted and told', async () => {
    const { status, body } = await call('POST', '/v1/parcel/send', { weight: 900 });
    expect([status, body.metadata.cost_usd]).toEqual([200, 0.00003]);
    expect((await call('GET', '/v1/parcel/list')).body.data.items).toEqual([body.data]);
    expect((await call('GET', `/v1/parcel/get/${body.data.parcel_id}`)).body.data).toEqual(body.data);
    const told = (await allEvents(call)).filter(({ type }) => type === 'parcel.sent');
    expect(told.map(({ data }) => data.object)).toEqual([body.data]);
    const patient = { db: service.core.db, secrets: null, modules: [parcel] };
    expect(await examineAccount(patient, accountId)).toEqual([]);
  });

  test('is changed for nothing: what is not sent stays, what changes nothing is not told', async () => {
    const sent = (await call('POST', '/v1/parcel/send', { weight: 1, label: 'A pen' })).body.data;
    const at = (act: string) => `/v1/parcel/${act}/${sent.parcel_id}`;
    const labelled = await call('PATCH', at('update'), { label: 'A pencil' });
    expect(labelled.body.data).toMatchObject({ ...sent, label: 'A pencil', updated_at: expect.any(String) });
    expect((await call('PATCH', at('update'), {})).body.data).toEqual(labelled.body.data);
    const cancelled = (await call('POST', at('cancel'))).body.data;
    expect(cancelled).toMatchObject({ status: 'cancelled', label: 'A pencil' });
    expect((await call('POST', at('cancel'))).body.data).toEqual(cancelled);
    const told = (await allEvents(call)).filter(({ type }) => type === 'parcel.cancelled');
    expect(told.map(({ data }) => data.object)).toEqual([cancelled]);
    expect((await call('DELETE', at('delete'))).body.data).toMatchObject({ deleted: true });
    const gone = await call('PATCH', at('update'), { label: 'None' });
    expect([gone.status, gone.body.error.code]).toEqual([404, 'NOT_FOUND']);
    const { balance_usd: left } = (await call('GET', '/v1/account/balance')).body.data;
    expect(left).toBeCloseTo(100 - 2 * 0.00003, 9);
  });

  test('has a page of the console that lists them, and sends one by its form', async () => {
    const visitor = await signedIn(service.url, (await createTestAccount(service.core)).secret);
    expect((await visitor.get('/console/parcels')).text).toContain('No parcels yet.');
    const empty = (await visitor.get('/console/parcels?new')).text;
    const hidden = [...empty.matchAll(/name="(form_\w+)" value="([^"]+)"/g)].map(([, name, value]) => [name, value]);
    const fields = { ...Object.fromEntries(hidden), act: 'create', weight: '900', label: 'A book' };
    expect((await visitor.post('/console/parcels?new', fields)).status).toBe(303);
    const { text } = await visitor.get('/console/parcels');
    expect(text).toContain('A book');
    expect(text).toContain('900 g');
  });

  test('reads its setting, and answers its own error code, which has a page', async () => {
    expect((await call('POST', '/v1/parcel/send', { weight: 2_000 })).status).toBe(200);
    const { status, body } = await call('POST', '/v1/parcel/send', { weight: 2_001 });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'PARCEL_TOO_HEAVY', 'weight']);
    const at = new URL(body.error.docs_url).pathname;
    expect(await page(at)).toContain('The parcel is too heavy.');
    expect(await page('/docs/errors')).toContain(`href="${at}"`);
  });

  test('does not start with a wrong setting', async () => {
    const failure = await start({ PARCEL_WEIGHT_MAX: 'much' }).catch((error: Error) => error);
    expect(failure).toMatchObject({
      name: 'ConfigError',
      message: 'PARCEL_WEIGHT_MAX must be a whole number from 1 to 10000, not "much"',
    });
  });

  test('is limited by the tier, which shows the limit', async () => {
    const { secret } = await createTestAccount(service.core);
    const other = client(service.url, secret);
    expect((await other('GET', '/v1/account/tier')).body.data.limits).toMatchObject({ parcels: 3, queues: 1_000 });
    const sent = [];
    for (let i = 0; i < 4; i += 1) sent.push((await other('POST', '/v1/parcel/send', { weight: 1 })).body);
    expect(sent.map(({ ok, error }) => (ok ? 'sent' : error.code))).toEqual(['sent', 'sent', 'sent', 'QUOTA_EXCEEDED']);
  });

  test('may be granted and subscribed to by its names', async () => {
    const { body: key } = await call('POST', '/v1/account/keys/create', { scopes: ['parcel:read'] });
    const reader = client(service.url, key.data.key_secret);
    expect((await reader('GET', '/v1/parcel/list')).status).toBe(200);
    expect((await reader('POST', '/v1/parcel/send', { weight: 1 })).body.error.code).toBe('INSUFFICIENT_SCOPE');
    const target = { url: 'https://example.org/hooks', events: ['parcel.sent'] };
    expect((await call('POST', '/v1/account/webhooks/register', target)).status).toBe(200);
  });

  test('stands in discovery, OpenAPI, llms.txt, the documentation and the manifest document', async () => {
    const { data } = (await call('GET', '/v1/discovery/parcel.send?view=full')).body;
    expect(data).toMatchObject({ billable: true, pricing: { unit: 'parcel', price_usd: 0.00003 } });
    expect(data.errors).toContainEqual({ code: 'PARCEL_TOO_HEAVY', http_status: 400, retryable: false });
    expect(data.events.map(({ type }: { type: string }) => type)).toContain('parcel.sent');
    const listing = (await call('GET', '/v1/discovery')).body.data;
    expect(listing.modules).toContainEqual({ module: 'parcel', status: 'beta' });
    const openapi = JSON.parse(await page('/v1/openapi.json'));
    expect(openapi.paths['/parcel/send'].post['x-svc-errors']).toContain('PARCEL_TOO_HEAVY');
    expect(openapi.webhooks['parcel.sent']).toBeDefined();
    const limits = JSON.stringify(openapi.paths['/account/tier'].get.responses['200']);
    expect(limits).toContain('Parcels on their way.');
    expect(await page('/llms/parcel.txt')).toContain('[parcel.send]');
    expect(await page('/llms.txt')).toContain('- parcel ');
    expect(await page('/docs/capabilities/parcel.send')).toContain('0.00003 USD');
    expect(await page('/docs/events/parcel.sent')).toContain('A parcel is on its way.');
    expect(await page('/.well-known/quartermaster.json')).toContain('"PARCEL_TOO_HEAVY"');
  });
});

describe('and no tenant sees another tenant of it', async () => {
  // tenants.test.ts goes through the others.
  const manifest = composeManifest([...modules, parcel]);
  const own = await tenantFixtures(manifest, FOLDER);
  const fixtures = [...(await tenantFixtures(manifest)), ...own];
  tenantLoop(manifest, fixtures, () => start(), own);
});
