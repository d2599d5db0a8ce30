// Firecrawl's own client against the service: nothing of it is changed but the address.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Firecrawl from '@mendable/firecrawl-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';
import { type EngineDouble, startSearxng } from './search-doubles.ts';

const page = (title: string, links: readonly string[] = []) =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="About ${title}"></head><body>
  <nav>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</nav><main><h1>${title}</h1>
  <p>The price of ${title} is 12.50, and it is sold at the station until the doors close.</p></main></body></html>`;

let site: Site;
let searxng: EngineDouble;
let folder: string;
let service: TestService;
let account: TestAccount;
let client: Firecrawl;

beforeAll(async () => {
  site = await startSite({
    '/robots.txt': (_, response) => void response.writeHead(200).end('User-agent: *\nDisallow: /secret'),
    '/': page('Home', ['/docs/a', '/docs/b', '/secret', '/blog']),
    '/docs/a': page('A', ['/']),
    '/docs/b': page('B'),
    '/blog': page('Blog'),
    '/long': page(
      'Long',
      Array.from({ length: 60 }, (_, i) => `/long/${i}`),
    ),
    ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`/long/${i}`, page(`Long ${i}`)])),
  });
  searxng = await startSearxng();
  folder = await mkdtemp(join(tmpdir(), 'qm-web-'));
  const file = join(folder, 'vendors.yaml');
  await writeFile(file, stringify({ version: 1, vendors: [{ id: 'own', adapter: 'searxng', base_url: searxng.url }] }));
  service = await startTestService({ env: { VENDORS_FILE: file } });
  account = await createTestAccount(service.core, 5);
  client = new Firecrawl({ apiKey: account.secret, apiUrl: `${service.url}/v1/web/firecrawl` });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([site.stop(), searxng.stop(), rm(folder, { recursive: true })]);
});

test('scrapes a page in several formats at the price of one', async () => {
  const found = await client.scrape(`${site.url}/`, { formats: ['markdown', 'html', 'links'] });
  expect(found.markdown).toContain('The price of Home is 12.50');
  expect(found.html).toContain('<p>');
  expect(found.links).toEqual(['/docs/a', '/docs/b', '/secret', '/blog'].map((path) => site.url + path));
  expect(found.metadata).toMatchObject({ title: 'Home', statusCode: 200, sourceURL: `${site.url}/`, language: 'en' });
});

test('scrapes a screenshot beside the text, at its own price', async () => {
  const found = await client.scrape(`${site.url}/`, { formats: ['markdown', 'screenshot'] });
  expect(found.markdown).toContain('The price of Home is 12.50');
  const image = await fetch(found.screenshot as string);
  expect(image.headers.get('content-type')).toBe('image/png');
});

test('scrapes JSON by a schema', async () => {
  const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  const found = await client.scrape(`${site.url}/`, { formats: [{ type: 'json', schema }] });
  expect(found.json).toEqual({ price: expect.any(Number) });
});

test('maps a site, and searches', async () => {
  const { links } = await client.map(`${site.url}/`, { search: 'docs' });
  expect(links.map(({ url }) => url)).toEqual([`${site.url}/docs/a`, `${site.url}/docs/b`]);
  const { web } = await client.search('trains to the coast', { limit: 3 });
  expect(web).toHaveLength(3);
  expect(web?.[0]).toMatchObject({ url: expect.stringMatching(/^https?:/), title: expect.any(String) });
});

test('crawls a site: includes paths, tells failures, pages that robots may not fetch', async () => {
  const job = await client.crawl(`${site.url}/`, { limit: 10, maxDiscoveryDepth: 1, pollInterval: 1 });
  expect(job).toMatchObject({ status: 'completed', completed: 4 });
  expect(job.data.map(({ metadata }) => metadata?.title)).toEqual(['Home', 'A', 'B', 'Blog']);
  expect(job.data[1]?.markdown).toContain('The price of A is 12.50');
  const docs = await client.crawl(`${site.url}/`, { limit: 10, includePaths: ['^/docs/.*$'], pollInterval: 1 });
  expect(docs.data.map(({ metadata }) => metadata?.title)).toEqual(['Home', 'A', 'B']);
  const below = await client.crawl(`${site.url}/docs/a`, { limit: 10, pollInterval: 1 });
  expect(below.data.map(({ metadata }) => metadata?.title)).toEqual(['A']);
  const whole = await client.crawl(`${site.url}/docs/a`, { limit: 3, crawlEntireDomain: true, pollInterval: 1 });
  expect(whole.data.map(({ metadata }) => metadata?.title)).toEqual(['A', 'Home', 'B']);
  const { id } = await client.startCrawl(`${site.url}/`, { maxDiscoveryDepth: 1, excludePaths: ['^/$'] });
  await expect.poll(async () => (await client.getCrawlStatus(id)).status).toBe('completed');
  expect(await client.getCrawlErrors(id)).toEqual({ errors: [], robotsBlocked: [`${site.url}/secret`] });
});

test('a long crawl is read to its end, and another is cancelled', async () => {
  const { id } = await client.startCrawl(`${site.url}/long`, { limit: 100 });
  await expect.poll(async () => (await client.getCrawlStatus(id)).status).toBe('completed');
  expect((await client.getCrawlStatus(id)).data).toHaveLength(61);
  const { id: second } = await client.startCrawl(`${site.url}/long`, { limit: 100 });
  expect((await client.getActiveCrawls()).crawls.map((crawl) => crawl.id)).toEqual([second]);
  expect(await client.cancelCrawl(second)).toBe(true);
  expect((await client.getCrawlStatus(second)).status).toBe('cancelled');
});

test('scrapes many pages as a batch', async () => {
  const urls = ['/docs/a', '/docs/b', '/secret'].map((path) => site.url + path);
  const job = await client.batchScrape(urls, { options: { formats: ['html'] }, pollInterval: 1 });
  expect(job).toMatchObject({ status: 'completed', completed: 2 });
  expect(job.data.map(({ html }) => html?.includes('12.50'))).toEqual([true, true]);
});

test.each([
  [
    'actions',
    () => client.scrape(`${site.url}/`, { actions: [{ type: 'wait', milliseconds: 1 }] }),
    400,
    'VALIDATION_FAILED',
  ],
  [
    'a screenshot of many',
    () => client.startBatchScrape([site.url], { options: { formats: ['screenshot'] } }),
    400,
    'VALIDATION_FAILED',
  ],
  ['a private address', () => client.scrape('http://10.0.0.1/'), 400, 'TARGET_REJECTED'],
  ['what robots may not fetch', () => client.scrape(`${site.url}/secret`), 403, 'ROBOTS_DISALLOWED'],
  ['an expression', () => client.startCrawl(site.url, { includePaths: ['(a|b)+$'] }), 400, 'VALIDATION_FAILED'],
  ['a crawl that is not there', () => client.getCrawlStatus(`crawl_${'1'.repeat(22)}`), 404, 'CRAWL_NOT_FOUND'],
  [
    'a wrong key',
    () => new Firecrawl({ apiKey: 'fc-x', apiUrl: `${service.url}/v1/web/firecrawl` }).scrape(site.url),
    401,
    'INVALID_API_KEY',
  ],
])('refuses %s in the form that the client reads', async (_, act, status, code) => {
  await expect(act()).rejects.toMatchObject({ status, code });
});
