// Bounds time: pages are painted within a second.
// What a page may cost the one who opens it: bytes, requests, time to the first paint on a near and a slow line, shift of what stands there,
// and time to draw a plot.
import { get } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { pages } from '../support/console-pages.ts';
import { addressOf, type Filled, fillAccount } from '../support/filled-account.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

const KB = 1_024;
const SHIFT_MAX = 0.02;
/** A line of 100 ms and 1.6 Mbit/s. */
const SLOW_LINE = { offline: false, latency: 100, downloadThroughput: 200_000, uploadThroughput: 200_000 };

let service: TestService;
let chromium: TestBrowser;
let receiver: Receiver;
let account: TestAccount;
let filled: Filled;
let visitor: PageVisitor;
beforeAll(async () => {
  [service, chromium, receiver] = await Promise.all([
    startTestService({ env: LOCAL_TARGETS }),
    startBrowser(),
    Receiver.start(),
  ]);
  account = await createTestAccount(service.core, 9.5);
  filled = await fillAccount(client(service.url, account.secret), receiver.url('/hook'), 'mark');
  visitor = await signedIn(service.url, account.secret);
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close(), receiver?.stop()]);
});

const own = pages.filter(({ needs }) => !needs.id.startsWith('operator.'));

/** Bytes of the file as it goes over the line to a browser that takes gzip. */
function sentBytes(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(`${service.url}${path}`, { headers: { 'accept-encoding': 'gzip' } }, async (response) => {
      let bytes = 0;
      for await (const piece of response) bytes += (piece as Buffer).length;
      expect([path, response.statusCode, response.headers['content-encoding']]).toEqual([path, 200, 'gzip']);
      resolve(bytes);
    });
    request.on('error', reject);
  });
}

test('scripts and style of a page are at most 24 kB, 46 with plots', async () => {
  let withPlots = 0;
  for (const each of own) {
    const { text } = await visitor.get(addressOf(each, filled));
    const files = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length, each.name).toBeGreaterThanOrEqual(2);
    const hasPlots = text.includes('/console/assets/plots.');
    if (hasPlots) withPlots += 1;
    const sizes = await Promise.all(files.map(sentBytes));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes, each.name).toBeLessThanOrEqual((hasPlots ? 46 : 24) * KB);
  }
  expect(withPlots).toBeGreaterThanOrEqual(2);
});

/** A browser that has never been here, signed in. */
async function newBrowser(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1_440, height: 900 }, ...options });
  const [[name = '', value = ''] = []] = [...visitor.cookies];
  await context.addCookies([{ name, value, url: service.url }]);
  const page = await context.newPage();
  await page.addInitScript(`
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const each of list.getEntries()) if (!each.hadRecentInput) window.shift += each.value;
    }).observe({ type: 'layout-shift', buffered: true });`);
  return page;
}

interface Seen {
  readonly paintMs: number;
  readonly shift: number;
}

/** Opens the page and waits until it is whole. */
async function open(page: Page, path: string): Promise<Seen> {
  await page.goto(service.url + path, { waitUntil: 'load' });
  if ((await page.locator('figure.plot').count()) > 0) await page.locator('.drawn canvas').first().waitFor();
  // Two frames later what the scripts changed is laid out.
  return (await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve({
    paintMs: performance.getEntriesByName('first-contentful-paint')[0].startTime, shift: window.shift,
  }), 50))))`)) as Seen;
}

const TRIES = 10;
/** What a page of text alone takes, the documentation, where one of the console takes 130: the browser's own pace. */
const TEXT_PAINT_MS = 60;

/** How many times as long as there this browser takes now. */
async function browserSlowness(): Promise<number> {
  const page = await newBrowser(chromium.browser);
  const { paintMs } = await open(page, '/docs');
  await page.context().close();
  return Math.max(1, paintMs / TEXT_PAINT_MS);
}

test.each(['/console', '/console/queues', '/console/usage', '/console/wallet'])(
  '%s is painted within 150 ms, asks for at most 5 things, and stays where it is',
  async (path) => {
    const paints: number[] = [];
    let isQuick = false;
    // A browser is many processes: where others keep the machine busy, one of some tries shows what the page takes.
    while (!isQuick && paints.length < TRIES) {
      const page = await newBrowser(chromium.browser);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      const { paintMs, shift } = await open(page, path);
      expect(shift).toBeLessThan(SHIFT_MAX);
      const requests = asked.filter((url) => !url.startsWith('data:'));
      expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(5);
      await page.context().close();
      paints.push(paintMs);
      isQuick = paintMs <= Math.max(allowedMs(150), 150 * (await browserSlowness()));
    }
    expect(isQuick, `painted after ${paints.join(', ')} ms`).toBe(true);
  },
);

test.each([360, 1_440])(
  'on a slow line, %i px wide, pages are painted within a second and stay where they are',
  async (width) => {
    for (const each of own.filter(({ nav }) => nav !== undefined)) {
      const page = await newBrowser(chromium.browser, { viewport: { width, height: 900 } });
      const line = await page.context().newCDPSession(page);
      await line.send('Network.enable');
      await line.send('Network.emulateNetworkConditions', SLOW_LINE);
      const { paintMs, shift } = await open(page, addressOf(each, filled));
      expect(paintMs, each.name).toBeLessThanOrEqual(allowedMs(1_000));
      // Each round trip that the line really has is in it.
      expect(paintMs, each.name).toBeGreaterThan(200);
      expect(shift, each.name).toBeLessThan(SHIFT_MAX);
      await page.context().close();
    }
  },
);

/** Puts 744 rows of 8 series into the page's table and has it drawn, a few times; answers how long each took, in ms. */
const DRAW = `(async () => {
  const [head, rows] = document.querySelector('figure.plot details table').querySelectorAll('thead, tbody');
  const add = (parent, name) => parent.appendChild(document.createElement(name));
  const taken = [];
  for (let n = 0; n < 7; n += 1) {
    head.replaceChildren();
    rows.replaceChildren();
    const titles = add(head, 'tr');
    for (let s = 0; s < 9; s += 1) add(titles, 'th').textContent = 'series ' + n + ' ' + s;
    for (let i = 0; i < 744; i += 1) {
      const row = add(rows, 'tr');
      add(add(row, 'th'), 'time').dateTime = new Date(1.7e12 + i * 3.6e6).toISOString();
      for (let s = 0; s < 8; s += 1) add(row, 'td').dataset.value = ((i * 7 + s * 3) % 11) / 100;
    }
    const begunMs = performance.now();
    document.dispatchEvent(new Event('morphed'));
    // It is drawn in a microtask.
    await null;
    await null;
    taken.push(performance.now() - begunMs);
  }
  return { taken, series: document.querySelectorAll('.drawn .u-series').length };
})()`;

test('744 points of 8 series are drawn within 20 ms', async () => {
  const page = await newBrowser(chromium.browser);
  await open(page, '/console/usage');
  const { taken, series } = (await page.evaluate(DRAW)) as { taken: number[]; series: number };
  expect(series).toBe(8);
  expect(Math.min(...taken)).toBeLessThanOrEqual(allowedMs(20));
  await page.context().close();
});
