// Sites that mean harm: each call ends soon, in a clear outcome, asks nobody that it may not, and costs nothing unless it is answered.
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../src/kit/services.ts';
import { get } from '../../src/modules/web/fetch/request.ts';
import { Robots } from '../../src/modules/web/fetch/robots.ts';
import { disconnectedProblem } from '../../src/problems/disconnected.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { listen } from '../outbound/receivers.ts';
import { expectFailure } from '../support/envelope.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { SITE_NETWORK, type Site, startSite } from '../support/site.ts';
import { cutPages, endless, failedPages, type HostilePage, leads, refusedTargets } from './hostile-sites.ts';

const MIB = 1024 * 1024;
const cut = cutPages();
const moved = Object.fromEntries(
  refusedTargets.map((target, i) => [`/to-${i}`, leads(new URL(target, 'http://x').href)]),
);

/** Each leads one further. */
const furtherPages = Object.fromEntries(
  Array.from({ length: 9 }, (_, i) => [`/further${'a'.repeat(i)}`, leads(`/further${'a'.repeat(i + 1)}`)]),
);

let service: TestService;
let call: Client;
let site: Site;
beforeAll(async () => {
  const failing = Object.fromEntries(Object.entries(failedPages).map(([path, [page]]) => [path, page]));
  service = await startTestService({ env: { LOG_LEVEL: 'error' } });
  call = client(service.url, (await createTestAccount(service.core, 5)).secret);
  site = await startSite({ ...cut, ...failing, ...moved, ...furtherPages }, '127.77.2.1');
});
afterAll(async () => {
  await service.stop();
  await site.stop();
});

const read = (url: string) => call('POST', '/v1/web/fetch', { url, format: 'text' });
const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;

describe('a page without an end', () => {
  test.each(Object.keys(cut))('%s comes out as its beginning', async (path) => {
    const { body } = await read(`${site.url}${path}`);
    expect(body.data).toMatchObject({ status: 200, truncated: true });
    expect(body.data.content).toMatch(/^All work and no play/);
    expect(Buffer.byteLength(body.data.content)).toBeLessThanOrEqual(256 * 1024);
  });
});

describe('a page that fails', () => {
  test.each(Object.entries(failedPages).map(([path, [, detail]]) => [path, detail]))('%s: %s', async (path, detail) => {
    const before = await balance();
    const reply = await read(`${site.url}${path}`);
    expectFailure(reply, service.url);
    expect([reply.status, reply.body.error.code, reply.body.error.code_detail]).toEqual([502, 'TARGET_FAILED', detail]);
    expect(await balance()).toBe(before);
  });

  test('at most five redirects are followed', async () => {
    const asked = site.asked.length;
    await read(`${site.url}/further`);
    expect(site.asked.slice(asked).filter((path) => path.startsWith('/further'))).toHaveLength(6);
  });
});

describe('an address that nobody may ask', () => {
  const url = (target: string) => new URL(target, 'http://x').href;
  test.each(refusedTargets.map((target, i) => [target, i] as const))(
    '%s, by itself and by a redirect',
    async (target, i) => {
      for (const asked of [url(target), `${site.url}/to-${i}`]) {
        const reply = await read(asked);
        expectFailure(reply, service.url);
        expect([asked, reply.status, reply.body.error.code, reply.body.error.param]).toEqual([
          ...[asked, 400, 'TARGET_REJECTED', 'url'],
        ]);
      }
    },
  );
});

describe('a network that the operator exempts', () => {
  test('is out of reach for what a page of a public host asks for, its robots.txt too', async () => {
    const intranet = await startSite({ '/': '<p>inside</p>' }, '127.77.2.3');
    const outbound = createOutboundClient({
      allowPrivateTargets: [],
      allowPrivateSources: [ipaddr.parseCIDR(SITE_NETWORK)],
    });
    const { signal } = new AbortController();
    const ask = (isPublicOnly: boolean) =>
      get({ outbound }, `${intranet.url}/`, { signal, userAgent: 'test', bytesMax: MIB, isPublicOnly });
    const robots = new Robots({ outbound } as Services, { obeys: true, userAgent: 'test' });
    try {
      await expect(ask(true)).rejects.toMatchObject({ code: 'TARGET_REJECTED' });
      await expect(robots.allow(`${intranet.url}/`, signal, true)).rejects.toMatchObject({ code: 'TARGET_REJECTED' });
      expect(intranet.asked).toEqual([]);
      expect(await ask(false)).toMatchObject({ status: 200, isExempt: true });
      expect(await robots.allow(`${intranet.url}/`, signal)).toEqual({ delayMs: 0 });
    } finally {
      await outbound.close();
      await intranet.stop();
    }
  });
});

describe('a name that changes its address', () => {
  test('is asked only at the address that was checked, at each redirect anew', async () => {
    const inner = await listen({ host: '127.0.0.1' });
    // To itself, under its name.
    const outer = await startSite(
      { '/': (request, response) => leads(`http://${request.headers.host}/next`)(request, response) },
      '127.77.2.2',
    );
    const { port } = new URL(outer.url);
    const resolved: string[] = [];
    const answers = [['127.77.2.2'], ['127.0.0.1'], ['127.77.2.2', '127.0.0.1']];
    const outbound = createOutboundClient({
      allowPrivateTargets: [],
      allowPrivateSources: [ipaddr.parseCIDR(SITE_NETWORK)],
      resolve: async (host) => {
        resolved.push(host);
        return answers[resolved.length - 1] ?? ['127.0.0.1'];
      },
    });
    try {
      const options = { signal: new AbortController().signal, userAgent: 'test', bytesMax: MIB };
      const first = get({ outbound }, `http://rebound.example:${port}/`, options);
      await expect(first).rejects.toMatchObject({ code: 'TARGET_REJECTED' });
      // One address of several that is private refuses the name.
      await expect(get({ outbound }, `http://rebound.example:${port}/`, options)).rejects.toMatchObject({
        code: 'TARGET_REJECTED',
      });
      expect(outer.asked).toEqual(['/']);
      expect(inner.connections).toBe(0);
    } finally {
      await outbound.close();
      await Promise.all([outer.stop(), inner.close()]);
    }
  });
});

describe('robots.txt that means harm', () => {
  const rules = (text: string): HostilePage => endless(Buffer.from(text.repeat(2_000)));
  test.each<[string, HostilePage, string | null]>([
    ['rules without an end', rules('User-agent: *\nDisallow: /else\n'), null],
    ['one line without an end', rules('aaaaaaaaaaaaaaaa'), null],
    ['wildcards without an end', rules(`User-agent: *\nDisallow: /${'*a'.repeat(100)}b\n`), 'ROBOTS_DISALLOWED'],
    ['a failure', (_, response) => void response.writeHead(503).end(), 'ROBOTS_DISALLOWED'],
    ['a connection that breaks', (request) => void request.socket.destroy(), 'ROBOTS_DISALLOWED'],
    ['a private address', leads('http://10.0.0.1/robots.txt'), 'TARGET_REJECTED'],
    ['no text', (_, response) => void response.writeHead(200).end(Buffer.alloc(MIB, 0xff)), null],
  ])('%s', async (_, robots, code) => {
    const host = await startSite({ '/robots.txt': robots, [`/${'a'.repeat(300)}`]: '<p>Allowed.</p>' }, nextHost());
    try {
      const reply = await read(`${host.url}/${'a'.repeat(300)}`);
      expect(reply.body.error?.code ?? null).toBe(code);
    } finally {
      await host.stop();
    }
  });
});

test('robots.txt that cannot be read allows nothing, and says so; who waits for it outlives who asked for it', async () => {
  const asked: (() => void)[] = [];
  const arrived = Promise.withResolvers<void>();
  const site = await startSite(
    {
      '/robots.txt': (_, response) => {
        asked.push(() => void response.writeHead(503).end());
        arrived.resolve();
      },
    },
    nextHost(),
  );
  const robots = new Robots(service.core, { obeys: true, userAgent: 'test' });
  const leaving = new AbortController();
  const first = robots.allow(`${site.url}/`, leaving.signal);
  const second = robots.allow(`${site.url}/`, new AbortController().signal);
  await arrived.promise;
  leaving.abort(disconnectedProblem());
  await expect(first).rejects.toMatchObject({ detail: 'client_disconnected' });
  await expect.poll(() => asked.length).toBe(2);
  for (const answer of asked) answer();
  await expect(second).rejects.toMatchObject({
    code: 'ROBOTS_DISALLOWED',
    detail: 'robots_unreachable',
    message: expect.stringContaining('It is asked for again after 30 s.'),
  });
  await site.stop();
});

let hosts = 0;
/** What is known of a host's robots.txt is kept by its address and port. */
function nextHost(): string {
  hosts += 1;
  return `127.77.3.${hosts}`;
}
