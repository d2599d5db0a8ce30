// Crawls: what they follow, what they cost, how they end.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { deleteFinished } from '../../src/modules/web/crawl/store.ts';
import { CRAWL_KEPT_HOURS } from '../../src/modules/web/limits.ts';
import { until } from '../support/process.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';

const page = (title: string, links: readonly string[]) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><nav>${links
    .map((link) => `<a href="${link}">${link}</a>`)
    .join(
      ' ',
    )}</nav><main><h1>${title}</h1><p>This page says what ${title} is, in a sentence that is long enough to be read.</p></main></body></html>`;
const many = Array.from({ length: 20_000 }, (_, i) => `/many/${i}`);
const nav = Array.from({ length: 25 }, (_, i) => `/nav/${i}`);
const WITHIN_MS = 60_000;

let site: Site;
let service: TestService;
let call: Client;

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': (_, response) => void response.writeHead(200).end('User-agent: *\nDisallow: /secret'),
    '/': page('Home', ['/a', '/b#part', '/a', '/secret', 'http://127.0.0.1:1/', '/gone', '/a?x=1']),
    '/a': page('A', ['/', '/deep']),
    '/b': page('B', ['/deep']),
    '/deep': page('Deep', ['/deeper']),
    '/deeper': page('Deeper', []),
    '/many': page('Many', many),
    ...Object.fromEntries(nav.map((path) => [path, page(path, [...nav, `${path}/child`])])),
    ...Object.fromEntries(nav.map((path) => [`${path}/child`, page('Child', [])])),
    ...Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`/chain/${i}`, page(`Link ${i}`, [`/chain/${i + 1}`])]),
    ),
  });
  // A page that waits for its thread on a busy machine is not too complex.
  const patient = { ...admission.call.page, msMax: 60_000 };
  service = await startTestService({ admission: { call: { page: patient } } });
  call = client(service.url, (await createTestAccount(service.core, 1)).secret);
});
afterAll(async () => {
  await service.stop();
  await site.stop();
});

async function data(reply: ReturnType<Client>) {
  const { body } = await reply;
  expect(body.ok, JSON.stringify(body)).toBe(true);
  return body.data;
}
const begin = (path: string, input: object = {}, by = call) =>
  data(by('POST', '/v1/web/crawl', { url: `${site.url}${path}`, ...input }));
const get = (id: string, by = call) => data(by('GET', `/v1/web/crawl/get/${id}`));
async function ended(id: string, by = call) {
  await until(async () => (await get(id, by)).status !== 'running', WITHIN_MS);
  return get(id, by);
}
const spent = async (by = call) => Number((await data(by('GET', '/v1/account/balance'))).balance_usd);

describe('a crawl', () => {
  test('reads the pages of its host within its depth, each once, and charges each that it read', async () => {
    const before = await spent();
    const { crawl_id } = await begin('/', { depth: 1 });
    const found = await ended(crawl_id);
    expect(found).toMatchObject({ status: 'completed', reason: null, pages_read: 5, pages_failed: 1, cost_usd: 0.001 });
    expect(found.items.map((item: { url: string }) => item.url.slice(site.url.length))).toEqual([
      ...['/', '/a', '/b', '/secret', '/gone', '/a?x=1'],
    ]);
    expect(found.items.find((item: { url: string }) => item.url.endsWith('/secret'))).toMatchObject({
      status: null,
      error: 'ROBOTS_DISALLOWED',
      content: '',
    });
    expect(found.items[1]).toMatchObject({ title: 'A', status: 200, depth: 1, error: null });
    expect(site.asked).not.toContain('/secret');
    expect(before - (await spent())).toBeCloseTo(0.001, 9);
  });

  test('follows what is included and not excluded, and ends at its limit', async () => {
    const only = await ended((await begin('/', { depth: 3, include: ['/a'], exclude: ['/a?'] })).crawl_id);
    expect(only.items.map((item: { title: string }) => item.title)).toEqual(['Home', 'A']);
    const limited = await ended((await begin('/chain/0', { depth: 10, limit: 4 })).crawl_id);
    expect(limited).toMatchObject({ status: 'completed', pages_read: 4 });
  });

  test('a page of twenty thousand links adds only what the crawl may know', async () => {
    const found = await ended((await begin('/many', { limit: 2, depth: 1 })).crawl_id);
    expect(found.pages_read + found.pages_failed).toBe(2);
    const { rows } = await service.core.db.query<{ known: number }>(
      {
        name: 'test_known',
        text: 'SELECT count(*)::int AS known FROM web.page WHERE account_id = $1 AND crawl_id = $2',
      },
      [(await createdBy(found.crawl_id)) as string, found.crawl_id],
    );
    expect(rows[0]?.known).toBeLessThanOrEqual(20);
  });

  test('links that stand on every page take no room of those that are new', async () => {
    const found = await ended((await begin('/nav/0', { limit: 50, depth: 3 })).crawl_id);
    expect(found).toMatchObject({ status: 'completed', pages_read: 50, pages_failed: 0 });
  });

  test('after a cancellation nothing is read, kept or charged', async () => {
    const { crawl_id } = await begin('/chain/0', { depth: 10, limit: 100 });
    await until(async () => (await get(crawl_id)).pages_read > 1);
    const cancelled = await data(call('POST', `/v1/web/crawl/cancel/${crawl_id}`));
    expect(cancelled.status).toBe('cancelled');
    const balance = await spent();
    // Another crawl is read from beginning to end meanwhile.
    await ended((await begin('/a', { depth: 0 })).crawl_id);
    expect(balance - (await spent())).toBeCloseTo(0.0002, 9);
    const after = await get(crawl_id);
    expect([after.pages_read, after.cost_usd]).toEqual([cancelled.pages_read, cancelled.cost_usd]);
  });

  test('ends where the credit does', async () => {
    const poor = client(service.url, (await createTestAccount(service.core, 0.0005)).secret);
    const found = await ended((await begin('/chain/0', { depth: 10, limit: 50 }, poor)).crawl_id, poor);
    expect(found).toMatchObject({ status: 'failed', reason: 'insufficient_credit', pages_read: 2, cost_usd: 0.0004 });
  });

  test('ends with its key', async () => {
    const account = await createTestAccount(service.core, 1);
    const owner = client(service.url, account.secret);
    const made = await data(owner('POST', '/v1/account/keys/create', { name: 'crawler', scopes: ['web'] }));
    const crawler = client(service.url, made.key_secret);
    const { crawl_id } = await begin('/chain/0', { depth: 10, limit: 100 }, crawler);
    await until(async () => (await get(crawl_id, owner)).pages_read > 0);
    await data(owner('DELETE', `/v1/account/keys/revoke/${made.key_id}`));
    expect(await ended(crawl_id, owner)).toMatchObject({ status: 'failed', reason: 'key_ended' });
  });

  test('so many run at once', async () => {
    const busy = client(service.url, (await createTestAccount(service.core, 1)).secret);
    await begin('/chain/0', { depth: 10, limit: 100 }, busy);
    await begin('/chain/0', { depth: 10, limit: 100 }, busy);
    const third = await busy('POST', '/v1/web/crawl', { url: `${site.url}/` });
    expect(third.body.error.code).toBe('QUOTA_EXCEEDED');
  });

  test('is deleted a day after its end', async () => {
    const { crawl_id } = await begin('/a', { depth: 0 });
    await ended(crawl_id);
    await service.advance(25 * 3_600);
    expect(await deleteFinished(service.core.db, CRAWL_KEPT_HOURS)).toBe(false);
    expect((await call('GET', `/v1/web/crawl/get/${crawl_id}`)).status).toBe(404);
  });
});

async function createdBy(crawlId: string): Promise<string | undefined> {
  const { rows } = await service.core.db.query<{ account_id: string }>(
    { name: 'test_owner', text: '/* fan-out: a test */ SELECT account_id FROM web.crawl WHERE crawl_id = $1' },
    [crawlId],
  );
  return rows[0]?.account_id;
}
