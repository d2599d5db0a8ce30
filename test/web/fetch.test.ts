// Pages through the whole way: guard, robots.txt, the host's turn, charge.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSuccess } from '../support/envelope.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { type Site, startSite } from '../support/site.ts';

const article = (title: string, rest = '') =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="author" content="Editors"></head><body><nav><a href="/a#top">A</a>
  <a href="mailto:x@example.com">Mail</a></nav><article><h1>${title}</h1><p>Trains to the coast leave at 07:40 from platform 9, and take forty minutes.</p>
  <p>Tickets cost 12.50, and are sold at the station until the doors close.</p>${rest}</article><footer>All rights reserved</footer></body></html>`;

let site: Site;
let service: TestService;
let call: Client;
let ipv4Other: Site;

beforeAll(async () => {
  ipv4Other = await startSite({ '/moved': article('Moved') }, '127.77.0.2');
  site = await startSite({
    '/robots.txt': (_, response) =>
      void response.writeHead(200).end('User-agent: *\nDisallow: /secret\nDisallow: /*?hidden'),
    '/trains': article('Trains'),
    '/gzip': (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(gzipSync(article('Zipped'))),
    '/gone': (_, response) => void response.writeHead(410, { 'content-type': 'text/html' }).end(article('Gone')),
    '/to-trains': (_, response) => void response.writeHead(302, { location: '/trains' }).end(),
    '/to-other': (_, response) => void response.writeHead(301, { location: `${ipv4Other.url}/moved` }).end(),
    '/to-secret': (_, response) => void response.writeHead(302, { location: '/secret/a' }).end(),
    '/to-private': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    '/loop': (_, response) => void response.writeHead(302, { location: '/loop' }).end(),
    '/data.json': (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[1,2]}'),
  });
  service = await startTestService();
  call = client(service.url, (await createTestAccount(service.core, 1)).secret);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([site.stop(), ipv4Other.stop()]);
});

const read = async (path: string, input: object = {}) =>
  succeeded(await call('POST', '/v1/web/fetch', { url: `${site.url}${path}`, ...input }));

function succeeded(reply: Reply) {
  expectSuccess(reply);
  return reply.body;
}

describe('web.fetch', () => {
  test('answers the main content as Markdown, for its price', async () => {
    const { data, metadata } = await read('/trains', { links: true });
    expect(data).toMatchObject({ status: 200, title: 'Trains', byline: 'Editors', language: 'en', truncated: false });
    expect(data.content).toContain('07:40 from platform 9');
    expect(data.content).not.toMatch(/rights reserved|<p>/);
    expect(data.links).toEqual([`${site.url}/a`]);
    expect(metadata.cost_usd).toBe(0.0002);
  });

  test.each([
    ['/gzip', { title: 'Zipped' }],
    ['/gone', { status: 410 }],
    ['/to-trains', { title: 'Trains' }],
    ['/to-other', { title: 'Moved' }],
    ['/data.json', { content: '{"a":[1,2]}' }],
  ])('%s is read', async (path, expected) => {
    expect((await read(path)).data).toMatchObject(expected);
  });

  test('content is cut at its bound, and says so', async () => {
    const { data } = await read('/trains', { bytes_max: 20, format: 'text' });
    expect(Buffer.byteLength(data.content)).toBeLessThanOrEqual(20);
    expect(data.truncated).toBe(true);
  });

  test.each([
    ['/secret/a', 403, 'ROBOTS_DISALLOWED'],
    ['/trains?hidden=1', 403, 'ROBOTS_DISALLOWED'],
    ['/to-secret', 403, 'ROBOTS_DISALLOWED'],
    ['/to-private', 400, 'TARGET_REJECTED'],
    ['/loop', 502, 'TARGET_FAILED'],
  ])('%s is refused with %i %s, and costs nothing', async (path, status, code) => {
    const before = await call('GET', '/v1/account/balance');
    const reply = await call('POST', '/v1/web/fetch', { url: `${site.url}${path}` });
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
    expect((await call('GET', '/v1/account/balance')).body.data.balance_usd).toBe(before.body.data.balance_usd);
  });

  test('JSON by a schema is what a model makes of the page, and its cost is told', async () => {
    const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
    const { data } = await read('/trains', { format: 'json', schema });
    expect(data.json).toEqual({ price: expect.any(Number) });
    expect(data.ai_cost_usd).toBeGreaterThan(0);
  });

  test.each([
    [{ format: 'json' }, 'schema'],
    [{ schema: {} }, 'schema'],
    [{ url: 'ftp://example.org/' }, 'url'],
    [{ url: 'http://user:secret@example.org/' }, 'url'],
    [{ url: 'http://example.org:8080/' }, 'url'],
    [{ url: 'http://localhost/' }, 'url'],
    [{ url: 'http://2130706433/' }, 'url'],
    [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url'],
    [{ url: 'http://169.254.169.254/latest/meta-data' }, 'url'],
  ])('%j is refused, naming %s', async (input, param) => {
    const reply = await call('POST', '/v1/web/fetch', { url: `${site.url}/trains`, ...input });
    expect(reply.status).toBe(400);
    expect(reply.body.error.param).toBe(param);
  });

  test('an account without credit is refused before anything is asked', async () => {
    const poor = client(service.url, (await createTestAccount(service.core, 0)).secret);
    const before = site.asked.length;
    const reply = await poor('POST', '/v1/web/fetch', { url: `${site.url}/trains` });
    expect(reply.body.error.code).toBe('INSUFFICIENT_CREDIT');
    expect(site.asked.length).toBe(before);
  });
});
