// posthog-js unchanged, in a page of another origin and a real Chromium.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { AnalyticsBench } from './harness.ts';

const SCRIPT = createRequire(import.meta.url).resolve('posthog-js/dist/array.full.no-external.js');
/** The name of a headless browser is that of a bot. */
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

let bench: AnalyticsBench;
let browser: TestBrowser;
let pages: Server;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
  browser = await startBrowser();
  pages = createServer((request, response) => {
    const isScript = request.url === '/posthog.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? readFileSync(SCRIPT) : '<title>Shop</title><script src="/posthog.js"></script><button>Buy</button>',
    );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await browser.close();
  pages.close();
  await bench.service.stop();
});

test('a page captures views, clicks and events, and says who its visitor is', async () => {
  const own = await bench.withAccount();
  const { key_secret: key } = await own.ok('POST', '/v1/account/keys/create', {
    name: 'page',
    scopes: ['analytics.capture'],
  });
  const context = await browser.browser.newContext({ userAgent: USER_AGENT });
  const page = await context.newPage();
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(own.host) && response.status() >= 400)
      refused.push(`${response.status()} ${response.url()}`);
  });
  page.on('requestfailed', (request) => refused.push(`${request.failure()?.errorText} ${request.url()}`));
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
  await page.evaluate(
    ([token, host]) => {
      // biome-ignore lint/suspicious/noExplicitAny: what the script of the page brings
      const { posthog } = globalThis as any;
      posthog.init(token, {
        api_host: host,
        person_profiles: 'always',
        capture_pageleave: false,
        request_batching: false,
        // A browser that is driven looks like a bot to it.
        opt_out_useragent_filter: true,
      });
      posthog.capture('order placed', { amount: 12.5 });
      posthog.identify('user-7', { email: 'ann@example.org' });
      posthog.capture('order paid');
    },
    [key, own.host] as const,
  );
  await page.click('button');
  const seen = async () => {
    const { items } = await own.ok('GET', '/v1/analytics/events?limit=100');
    return new Set(items.map(({ event }: { event: string }) => event));
  };
  await expect.poll(seen).toEqual(new Set(['$pageview', '$autocapture', 'order placed', '$identify', 'order paid']));
  expect(refused).toEqual([]);
  const { items } = await own.ok('GET', '/v1/analytics/events?event=order%20placed');
  expect(items[0].properties).toMatchObject({ amount: 12.5 });
  expect(JSON.stringify(items)).not.toContain('127.0.0.1"');
  const person = await own.ok('GET', '/v1/analytics/person/user-7');
  expect(person.properties).toMatchObject({ email: 'ann@example.org' });
  expect(person.distinct_ids).toHaveLength(2);
  await context.close();
}, 120_000);
