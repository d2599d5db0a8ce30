// The session as a real browser keeps it: between sites, and where the service is reached by plain http.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from '../errors/harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { press, tabTo } from '../support/console.ts';

let bench: ErrorsBench;
let chromium: TestBrowser;
let url: string;
beforeAll(async () => {
  // Names, because a browser trusts this machine's addresses as it trusts https.
  [bench, chromium] = await Promise.all([
    ErrorsBench.start(),
    startBrowser(['--host-resolver-rules=MAP *.test 127.0.0.1']),
  ]);
  const { error_group_id: groupId } = await bench.capture({ message: 'disk full' });
  url = `http://qm.test:${new URL(bench.service.url).port}/console/errors/${groupId}`;
});
afterAll(async () => {
  await chromium.close();
  await bench.service.stop();
});

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  // As a proxy tells it that has this name in front of the service's.
  const extraHTTPHeaders = { 'x-forwarded-host': new URL(bench.service.url).host };
  const page = await (await chromium.browser.newContext({ extraHTTPHeaders, ...options })).newPage();
  // Another site, whose page links to the group and sends forms to it.
  await page.route('http://other.test/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<a href="${url}">look</a>
<form method="post" action="${new URL('/auth/key', url)}"><input name="key" value="${bench.account.secret}"><button id="in">in</button></form>
<form method="post" action="${url}"><input name="act" value="resolve"><button id="act">act</button></form>
<form method="post" action="${new URL('/auth/sign-out', url)}"><button id="out">out</button></form>`,
    }),
  );
  return page;
}

async function signIn(page: Page): Promise<void> {
  await page.goto(url);
  await tabTo(page, '#key');
  await page.keyboard.type(bench.account.secret);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.who');
}

test('by plain http and a name that only a proxy knows, keyboard only: signed in, back at the page, and out', async () => {
  const page = await newPage();
  await signIn(page);
  expect([page.url(), await page.textContent('h1')]).toEqual([url, 'disk full']);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ name: 'qm_session', path: '/', httpOnly: true, sameSite: 'Lax' });
  await press(page, '.who');
  await tabTo(page, 'button:has-text("Sign out")');
  const outline = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
  await expect.poll(outline).toBe('solid');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#key');
  expect(await page.context().cookies()).toEqual([]);
  expect(page.url()).toBe(new URL('/auth', url).href);
  await page.context().close();
});

test('a link of another site shows the page to who is signed in', async () => {
  const page = await newPage();
  await signIn(page);
  await page.goto('http://other.test/');
  await page.click('text=look');
  await page.waitForSelector('text=disk full');
  await page.context().close();
});

test('forms of another site sign nobody in or out, and change nothing', async () => {
  const page = await newPage();
  await page.goto('http://other.test/');
  await page.click('#in');
  await page.waitForSelector('text=This form was refused');
  expect(await page.context().cookies()).toEqual([]);
  await signIn(page);
  const refusals = [
    // The form comes without the session and so leads to the sign-in, which leads back.
    ['#act', 'text=disk full'],
    ['#out', 'text=This form was refused'],
  ] as const;
  for (const [form, refusal] of refusals) {
    await page.goto('http://other.test/');
    await page.click(form);
    await page.waitForSelector(refusal);
  }
  expect(await page.context().cookies()).toHaveLength(1);
  expect((await bench.groups()).groups[0].is_resolved).toBe(false);
  await page.context().close();
});

/** A page of another port of this machine that frames these, with what else is there in the last frame. */
async function startFraming(addresses: readonly string[]) {
  const frames = [...addresses, '/plain'].map((address) => `<iframe src="${address}"></iframe>`).join('');
  const server = createServer((request, answer) => {
    answer.setHeader('content-type', 'text/html').end(request.url === '/plain' ? 'shown in a frame' : frames);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, stop: () => server.close() };
}

test('no page is shown in a frame, of another site or of its own', async () => {
  const page = await newPage();
  await signIn(page);
  const paths = ['/console', '/auth', '/auth/account', '/device', '/wallet/charge-limit', new URL(url).pathname];
  const framing = await startFraming(paths.map((path) => new URL(path, url).href));
  const refused: string[] = [];
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'net::ERR_BLOCKED_BY_RESPONSE') refused.push(new URL(request.url()).pathname);
  });
  const shown = {
    // To another site the session's cookie is not sent: all lead to the sign-in.
    'other.test': paths.map(() => '/auth'),
    // Of another port of its own it is.
    'qm.test': paths.map((path) => (path === '/auth' ? '/auth/account' : path)),
  };
  for (const [name, wanted] of Object.entries(shown)) {
    refused.length = 0;
    await page.goto(`http://${name}:${framing.port}/`);
    await page.frameLocator('iframe >> nth=-1').locator('text=shown in a frame').waitFor();
    await expect.poll(() => refused.toSorted(), { message: name }).toEqual(wanted.toSorted());
  }
  framing.stop();
  await page.context().close();
});

test('a form of a page from before signing out changes nothing: it leads to the sign-in, and as another session it is refused', async () => {
  // Without scripts, so that the page stays as it was.
  const page = await newPage({ javaScriptEnabled: false });
  await signIn(page);
  const [stale, staler] = [await page.context().newPage(), await page.context().newPage()];
  for (const each of [stale, staler]) await each.goto(url);
  await page.click('.who');
  await page.click('text=Sign out');
  await page.waitForSelector('#key');
  await stale.click('button:has-text("Resolve")');
  await stale.waitForSelector('#key');
  await signIn(page);
  await staler.click('button:has-text("Resolve")');
  await staler.waitForSelector('text=This form was refused');
  expect((await bench.groups()).groups[0].is_resolved).toBe(false);
  // The same form, as this session has it.
  await page.click('button:has-text("Resolve")');
  await page.waitForSelector('.done');
  expect((await bench.groups()).groups[0].is_resolved).toBe(true);
  await page.context().close();
});
