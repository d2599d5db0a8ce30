// A page of another origin in a real Chromium reports as browser SDKs do: with a preflight and without one.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

let bench: SentryBench;
let chromium: TestBrowser;
let site: Server;
let page: Page;
beforeAll(async () => {
  bench = await SentryBench.of(await ErrorsBench.start());
  site = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  ).listen(0);
  await once(site, 'listening');
  chromium = await startBrowser();
  page = await chromium.browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await chromium.close();
  site.close();
  await bench.service.stop();
});

/** Posts from within the page; what the page may read of the answer. */
function post(url: string, body: string, headers: Record<string, string>) {
  return page.evaluate(
    async (sent) => {
      const response = await fetch(sent.url, { method: 'POST', body: sent.body, headers: sent.headers });
      const names = ['retry-after', 'x-sentry-rate-limits', 'x-sentry-error'];
      return {
        status: response.status,
        text: await response.text(),
        headers: names.map((name) => response.headers.get(name)),
      };
    },
    { url, body, headers },
  );
}

test.each([
  [
    'with a preflight',
    () => ({
      url: bench.url('envelope', null),
      headers: {
        'x-sentry-auth': `Sentry sentry_key=${bench.dsnKey}`,
        'content-type': 'application/x-sentry-envelope',
      },
    }),
  ],
  ['without one', () => ({ url: bench.url(), headers: {} })],
])('%s', async (_how, make) => {
  const { url, headers } = make();
  const sent = { event_id: eventId(), message: 'from a page' };
  const answer = await post(url, envelope(sent).toString(), headers as Record<string, string>);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { id: sent.event_id }]);
  expect((await bench.captured(sent.event_id)).message).toBe('from a page');
});

test('a refusal can be read, with the headers that tell the SDK to wait', async () => {
  const poor = await SentryBench.of(bench, 0);
  const answer = await post(poor.url(), envelope({ event_id: eventId() }).toString(), {});
  expect(answer.status).toBe(429);
  expect(answer.headers.slice(0, 2)).toEqual(['60', '60::organization:insufficient_credit']);
  expect(answer.headers[2]).toBe(JSON.parse(answer.text).detail);
});

test('other calls stay closed to pages', async () => {
  await expect(
    post(`${bench.service.url}/v1/errors/capture`, '{}', { authorization: `Bearer ${bench.account.secret}` }),
  ).rejects.toThrow(/Failed to fetch/);
});
