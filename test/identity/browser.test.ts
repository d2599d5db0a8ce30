// The way to a provider and back in a real browser: the page's policy lets a sign-in out, and a form that links too.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type OidcServer, startOidc } from '../support/identity/oidc.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

let it: TestService;
let [corp, other]: OidcServer[] = [];
let chromium: TestBrowser;

beforeAll(async () => {
  const port = await freePort();
  const callback = (id: string) => `http://127.0.0.1:${port}/auth/callback/${id}`;
  [corp, other, chromium] = await Promise.all([
    startOidc([callback('corp')]),
    startOidc([callback('other')]),
    startBrowser(),
  ]);
  const providers = JSON.stringify([corp.entry('corp'), other.entry('other')]);
  it = await startTestService({ env: { PORT: String(port), IDENTITY_PROVIDERS: providers } });
  corp.person = { sub: 'ada', email: 'ada@example.org', email_verified: true, name: 'Ada' };
  other.person = { sub: 'ada-2', email: 'ada@example.net', email_verified: true };
});
afterAll(async () => {
  await Promise.all([chromium?.close(), it?.stop(), corp?.stop(), other?.stop()]);
});

test('signed in by one provider, linked to another, without a script; every page is accessible', async () => {
  const page = await chromium.browser.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${it.url}/auth`);
  await page.click('text=Continue with corp');
  await page.waitForURL(`${it.url}/auth/account`);
  await page.waitForSelector('text=Ways to sign in');
  expect(await page.textContent('main')).not.toContain('ada-2');
  await expectAccessible(page);
  await page.click('text=Link other');
  await page.waitForURL(`${it.url}/auth/account`);
  await page.waitForSelector('text=ada-2');
  await page.goto(`${it.url}/auth/callback/corp?code=x&state=y`);
  expect(await page.textContent('h1')).toBe('This sign-in did not begin here');
  await expectAccessible(page);
  await page.context().close();
});
