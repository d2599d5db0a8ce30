// The session as a real browser keeps it: between sites, and where the service is reached by plain http.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from '../errors/harness.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { tabTo } from '../support/console.ts';

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

async function newPage(): Promise<Page> {
  const page = await chromium.browser.newPage();
  page.setDefaultTimeout(5_000);
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
  await page.waitForSelector('text=Sign out');
}

test('by plain http and a name that the base URL does not know, keyboard only: signed in, back at the page, and out', async () => {
  const page = await newPage();
  await signIn(page);
  expect([page.url(), await page.textContent('h1')]).toEqual([url, 'disk full']);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ name: 'qm_session', path: '/', httpOnly: true, sameSite: 'Lax' });
  await tabTo(page, 'button:has-text("Sign out")');
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
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
  await page.waitForSelector('text=This form is not taken');
  expect(await page.context().cookies()).toEqual([]);
  await signIn(page);
  const refusals = [
    // The form comes without the session and so leads to the sign-in, which leads back.
    ['#act', 'text=disk full'],
    ['#out', 'text=This form is not taken'],
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
