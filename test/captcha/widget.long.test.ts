// ALTCHA's widget, unchanged, in a page of another origin in a real Chromium; and the challenge that the console's page solves by itself.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { client } from '../support/service.ts';
import { CaptchaBench } from './harness.ts';

const script = readFileSync(
  createRequire(import.meta.url)
    .resolve('altcha')
    .replace(/[^/]+$/, 'altcha.min.js'),
  'utf8',
);
let bench: CaptchaBench;
let chromium: TestBrowser;
let site: Server;
/** What the form of the page sent. */
const sent: URLSearchParams[] = [];
beforeAll(async () => {
  bench = await CaptchaBench.start();
  const key = await bench.key('captcha.challenge');
  site = createServer(async (request, response) => {
    if (request.url === '/altcha.js') {
      response.setHeader('content-type', 'text/javascript').end(script);
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'POST') sent.push(new URLSearchParams(body));
    const address = `${bench.service.url}/v1/captcha/altcha?key=${key}&action=signup`;
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>${request.method}</title>
<script type="module" src="/altcha.js"></script>
<form method="post" action="/signup"><input name="email" value="ada@example.org">
<altcha-widget challenge="${address}"></altcha-widget><button>Sign up</button></form>`);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  chromium = await startBrowser();
});
afterAll(async () => {
  await chromium.close();
  site.close();
  await bench.service.stop();
});

async function open(): Promise<Page> {
  const page = await chromium.browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  return page;
}

test('the widget solves a challenge, and its form counts once', async () => {
  const page = await open();
  // What is drawn lies above the box.
  await page.click('altcha-widget input[type=checkbox]', { force: true });
  await page.waitForFunction(() => new FormData(document.forms[0]).get('altcha'), undefined, { timeout: 60_000 });
  await page.click('button:has-text("Sign up")');
  await page.waitForFunction(() => document.title === 'POST');
  const response = sent[0]?.get('altcha') ?? '';
  const fields = { secret: await bench.key('captcha.verify'), response, action: 'signup' };
  const verify = async () => (await client(bench.service.url)('POST', '/v1/captcha/siteverify', fields)).body;
  expect(await verify()).toMatchObject({
    success: true,
    hostname: '127.0.0.1',
    action: 'signup',
    difficulty: 'normal',
  });
  expect(await verify()).toMatchObject({ success: false, 'error-codes': ['timeout-or-duplicate'] });
  await page.close();
}, 120_000);

test("the console's page solves a challenge under its own policy", async () => {
  const { page, faults } = await openConsole(chromium.browser, bench.service.url, bench.secret);
  await page.goto(`${bench.service.url}/console/captcha?difficulty=normal`);
  await page.waitForSelector('[aria-label="The verification"]', { timeout: 60_000 });
  expect(await page.textContent('[aria-label="The verification"]')).toMatch(/ok.*cap_.*normal/s);
  await page.goto(`${bench.service.url}/console/captcha`);
  expect(await page.textContent('.figures')).toMatch(/Verifications3Solved2.*Replayed1/s);
  expect(faults).toEqual([]);
}, 120_000);
