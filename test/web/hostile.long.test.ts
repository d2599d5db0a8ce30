// Sites that keep their visitors waiting: each call ends within what a page may take, and holds up nobody else.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';
import { allowedMs } from '../support/slowness.ts';
import type { HostilePage } from './hostile-sites.ts';

const PAGE_MS = 20_000;
let service: TestService;
let call: Client;
const sites: Site[] = [];
beforeAll(async () => {
  service = await startTestService({ env: { LOG_LEVEL: 'error' } });
  call = client(service.url, (await createTestAccount(service.core, 5)).secret);
});
afterAll(async () => {
  await service.stop();
  await Promise.all(sites.map((site) => site.stop()));
});

const slowly: HostilePage = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => response.write('a'), 1_000);
  response.on('close', () => clearInterval(timer));
};
const never: HostilePage = () => undefined;
const stops: HostilePage = (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('a');
/** Ten seconds each, five times. */
const leadsSlowly: HostilePage = ({ url = '' }, response) =>
  void setTimeout(() => response.writeHead(302, { location: `${url}a` }).end(), 10_000);

test.concurrent.each<[string, Record<string, HostilePage>, string, string | null]>([
  ['a byte a second', { '/': slowly }, 'TARGET_FAILED', 'timeout'],
  ['no head', { '/': never }, 'TARGET_FAILED', 'timeout'],
  ['a body that stops', { '/': stops }, 'TARGET_FAILED', null],
  ['slow redirects', { '/': leadsSlowly, '/a': leadsSlowly, '/aa': leadsSlowly }, 'TARGET_FAILED', 'timeout'],
  ['robots.txt by a byte a second', { '/robots.txt': slowly }, 'ROBOTS_DISALLOWED', null],
  ['robots.txt without a head', { '/robots.txt': never }, 'ROBOTS_DISALLOWED', null],
])(
  '%s',
  async (_, pages, code, detail) => {
    const site = await startSite(pages, `127.77.4.${sites.length + 1}`);
    sites.push(site);
    const begunMs = performance.now();
    const { body } = await call('POST', '/v1/web/fetch', { url: `${site.url}/` });
    expect(body.error.code).toBe(code);
    if (detail !== null) expect(body.error.code_detail).toBe(detail);
    expect(performance.now() - begunMs).toBeLessThan(PAGE_MS + allowedMs(2_000));
  },
  40_000,
);

test('while they wait others are served', async () => {
  const site = await startSite({ '/': '<p>Served at once.</p>' }, '127.77.5.1');
  sites.push(site);
  const { body } = await call('POST', '/v1/web/fetch', { url: `${site.url}/`, format: 'text' });
  expect(body.data.content).toContain('Served at once');
});
