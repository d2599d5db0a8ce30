// Hostile pages in a real Chromium: nothing reaches a socket but what the service asks for, and every call ends in time with no process left.
import { execFileSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Site, startSite } from '../support/site.ts';
import { allowedMs } from '../support/slowness.ts';
import { endlessPages, escapingPage } from './hostile-browser-pages.ts';
import { ScreenshotBench } from './screenshot-bench.ts';

const BOUND_MS = 15_000;
/** To fetch the page, to begin a browser and to end it, on a busy machine. */
const BESIDE_MS = 20_000;
const TEST_MS = 90_000;

let trap: Server;
let traps: Server[] = [];
let datagrams: Socket;
let site: Site;
let other: Site;
let bench: ScreenshotBench;
let folder: string;
const reached: string[] = [];
const pages = new Map<string, string>();

beforeAll(async () => {
  const caught = (at: string) =>
    createServer((socket) => {
      reached.push(at);
      socket.on('error', () => undefined).destroy();
    });
  trap = await listening(caught('127.0.0.1'), '127.0.0.1', 0);
  traps = [trap, await listening(caught('::1'), '::1', (trap.address() as AddressInfo).port)];
  datagrams = createSocket('udp4', () => reached.push('udp'));
  await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'qm-file-'));
  writeFileSync(join(folder, 'red.html'), '<body style="background:#f00">');
  const to = (location: string) => (_: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(302, { location }).end();
  other = await startSite({ '/': '<title>Other</title>', '/inside': 'private' }, '127.77.0.2');
  site = await startSite({
    '/page': (asked, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end(pages.get(asked.url ?? '')),
    '/endless': (asked, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end(pages.get('endless') ?? asked.url),
    '/to-trap': to(`http://${at()}/redirected`),
    '/trap-at-once': to(`http://${at()}/at-once`),
    '/refresh': `<title>Stays</title><meta http-equiv=refresh content="0;url=http://${at()}/refresh">`,
    '/location': `<title>Stays</title><script>location.replace('http://${at()}/location')</script>`,
    '/download': `<a id=down href="http://${at()}/download" download>x</a><script>down.click()</script>`,
    '/tried': 'noted',
    '/led': 'led',
    '/worker.js': (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`fetch('http://${at()}/worker')`),
  });
  bench = await ScreenshotBench.start({
    env: { WEB_BROWSERS: '1' },
    admission: { call: { shot: { msMax: BOUND_MS, heapMb: 256, outsideHeapMb: 256, browserMb: 1_024 } } },
  });
}, TEST_MS);
afterAll(async () => {
  await bench.service.stop();
  await Promise.all([site.stop(), other.stop(), rm(folder, { recursive: true })]);
  for (const server of traps) server.close();
  datagrams.close();
});
afterEach(async () => {
  await expect.poll(browsers).toEqual([]);
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('qm-shot-'));
  await expect.poll(folders).toEqual([]);
});

const at = () => `127.0.0.1:${(trap.address() as AddressInfo).port}`;

function listening(server: Server, host: string, port: number): Promise<Server> {
  return new Promise((resolve) => server.listen(port, host, () => resolve(server)));
}

function browsers(): string[] {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes('qm-shot-'));
}

describe('a way out', () => {
  test('none of them reaches a socket', { timeout: TEST_MS }, async () => {
    pages.set('/page?out', escapingPage(at(), datagrams.address().port, join(folder, 'red.html')));
    const { data, picture } = await bench.take(`${site.url}/page?out`, { wait_seconds: 5 });
    expect(data).toMatchObject({ title: 'Escaping', status: 200, page_url: `${site.url}/page?out` });
    // It tried, and what its own site has was asked of it.
    expect(site.asked.filter((path) => path.startsWith('/tried'))).toHaveLength(1);
    expect(reached).toEqual([]);
    const middle = await sharp(picture)
      .extract({ left: 640, top: 700, width: 1, height: 1 })
      .removeAlpha()
      .raw()
      .toBuffer();
    expect([...middle]).not.toEqual([255, 0, 0]);
    // The trap works.
    connect((trap.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await expect.poll(() => reached).toEqual(['127.0.0.1']);
    reached.length = 0;
  });

  test.each(['/refresh', '/location', '/download'])('%s leads nowhere', { timeout: TEST_MS }, async (path) => {
    expect(await bench.fails(`${site.url}${path}`, { wait_seconds: 0.5 })).toEqual([
      400,
      'VALIDATION_FAILED',
      'not_shown',
    ]);
    expect(reached).toEqual([]);
  });

  test('a redirect of the page itself is refused before a browser begins', async () => {
    expect(await bench.fails(`${site.url}/trap-at-once`)).toEqual([400, 'TARGET_REJECTED', undefined]);
    expect(reached).toEqual([]);
  });
});

describe('a page without end', () => {
  test.each(endlessPages)('%s ends in time, and leaves nothing', { timeout: TEST_MS }, async (name, html) => {
    pages.set('endless', html);
    const begunMs = performance.now();
    const reply = await bench.call('POST', '/v1/web/screenshot', {
      url: `${site.url}/endless?${encodeURIComponent(name)}`,
      full_page: true,
    });
    expect(performance.now() - begunMs).toBeLessThan(BOUND_MS + allowedMs(BESIDE_MS));
    const { ok, error } = reply.body;
    const outcome = ok ? 'shown' : `${error.code} ${error.code_detail}`;
    expect(outcome).toMatch(/^(shown|VALIDATION_FAILED (too_complex|not_shown))$/);
    // Others are served meanwhile and afterwards.
    expect((await bench.call('GET', '/v1/account/balance')).status).toBe(200);
  });

  test('a client that leaves ends the browser', { timeout: TEST_MS }, async () => {
    pages.set('endless', '<script>for (;;);</script>');
    const left = new AbortController();
    const asking = request(`${bench.service.url}/v1/web/screenshot`, {
      method: 'POST',
      signal: left.signal,
      body: JSON.stringify({ url: `${site.url}/endless?left` }),
      headers: { ...bench.headers, 'content-type': 'application/json' },
    });
    await expect.poll(() => browsers().length).toBeGreaterThan(0);
    left.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(browsers).toEqual([]);
  });
});
