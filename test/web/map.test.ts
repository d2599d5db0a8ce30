// Maps of sites: what sitemaps and a page name, in order, on the host alone.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';

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

type Pages = Parameters<typeof startSite>[0];

/** Each at a host of its own: hosts take turns. `$` stands for its address. */
async function siteOf(pages: Readonly<Record<string, string | Buffer>>): Promise<Site> {
  let url = '';
  const served = Object.entries(pages).map(([path, page]) => [
    path,
    (_: unknown, response: ServerResponse) =>
      response
        .writeHead(200, { 'content-type': path === '/' ? 'text/html' : 'application/xml' })
        .end(typeof page === 'string' ? page.replaceAll('$', url) : page),
  ]);
  const site = await startSite(Object.fromEntries(served) as Pages, `127.77.1.${sites.length + 1}`);
  url = site.url;
  sites.push(site);
  return site;
}

async function mapped(site: Site, input: object = {}): Promise<string[]> {
  const { body } = await call('POST', '/v1/web/map', { url: `${site.url}/`, ...input });
  expect(body.error).toBeUndefined();
  expect(body.metadata.cost_usd).toBe(0.0002);
  return body.data.links.map((link: string) => link.replace(site.url, ''));
}

const home =
  '<a href="/a#x">a</a> <a href="b">b</a> <a href="https://elsewhere.example/c">c</a> <a href="mailto:x@y">m</a>';
const urlset = (...paths: string[]) =>
  `<urlset>${paths.map((path) => `<url><loc>$${path}</loc></url>`).join('')}</urlset>`;

describe('web.map', () => {
  test('sitemaps that robots.txt names come before links of the page, each address once', async () => {
    const site = await siteOf({
      '/': home,
      '/robots.txt': 'User-agent: *\nDisallow:\nSitemap: $/maps/index.xml',
      '/maps/index.xml': '<sitemapindex><sitemap><loc>$/maps/1.xml</loc></sitemap></sitemapindex>',
      '/maps/1.xml': urlset('/b', '/deep/1', '/deep/2?x=1&amp;y=2'),
    });
    expect(await mapped(site)).toEqual(['/b', '/deep/1', '/deep/2?x=1&y=2', '/a']);
    expect(site.asked).not.toContain('/sitemap.xml');
  });

  test('without such a line /sitemap.xml is read; the limit ends the reading', async () => {
    const paths = Array.from({ length: 50 }, (_, i) => `/p${i}`);
    const site = await siteOf({ '/': home, '/sitemap.xml': gzipSync(Buffer.from('x')) });
    expect(await mapped(site)).toEqual(['/a', '/b']);
    const other = await siteOf({ '/': home, '/sitemap.xml': urlset(...paths) });
    expect(await mapped(other, { limit: 3 })).toEqual(['/p0', '/p1', '/p2']);
  });

  test('addresses of other hosts are left out, and a sitemap that may not be read is passed over', async () => {
    const site = await siteOf({
      '/': home,
      '/robots.txt':
        'User-agent: *\nDisallow: /private\nSitemap: $/private/map.xml\nSitemap: http://127.0.0.1:1/map.xml',
      '/private/map.xml': urlset('/secret'),
    });
    expect(await mapped(site)).toEqual(['/a', '/b']);
    expect(site.asked).not.toContain('/private/map.xml');
  });

  test('a page that may not be read is an error', async () => {
    const site = await siteOf({ '/robots.txt': 'User-agent: *\nDisallow: /' });
    const { body } = await call('POST', '/v1/web/map', { url: `${site.url}/` });
    expect(body.error.code).toBe('ROBOTS_DISALLOWED');
  });
});
