// From an empty directory to money and a key that works, as people do it in a real browser: one comes by an identity provider, one by mail, and
// the operator by the link of the command line. No page outside of the console has a script, and every page is accessible.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as oauth from 'openid-client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type OidcServer, startOidc } from '../support/identity/oidc.ts';
import { createPlace, freePort, type Place, PROJECT, startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';

let place: Place;
let [corp, other]: OidcServer[] = [];
let chromium: TestBrowser;

beforeAll(async () => {
  const port = await freePort();
  const callback = (id: string) => `http://127.0.0.1:${port}/auth/callback/${id}`;
  [corp, other] = await Promise.all([startOidc([callback('corp')]), startOidc([callback('other')])]);
  corp.person = { sub: 'ada', email: 'ada@example.org', email_verified: true, name: 'Ada' };
  other.person = { sub: 'ada-2', email: 'ada@example.net', email_verified: true };
  const providers = JSON.stringify([corp.entry('corp'), other.entry('other')]);
  place = await createPlace({ PORT: String(port), IDENTITY_PROVIDERS: providers });
  [chromium] = await Promise.all([startBrowser(), startProcess(place)]);
});
afterAll(async () => {
  await Promise.all([chromium?.close(), place?.remove(), corp?.stop(), other?.stop()]);
});

async function somebody(): Promise<Page> {
  const page = await (await chromium.browser.newContext()).newPage();
  return page;
}

/** The page has this heading, no script, and nothing to find fault with. */
async function expectPage(page: Page, heading: string): Promise<void> {
  await expect.poll(() => page.textContent('h1')).toBe(heading);
  expect(await page.locator('script').count()).toBe(0);
  await expectAccessible(page);
}

async function expectSoundConsole(page: Page, heading: string): Promise<void> {
  await expect.poll(() => page.textContent('h1')).toBe(heading);
  await expectAccessible(page);
}

async function qm(...args: string[]) {
  const { PATH = '', HOME = '' } = process.env;
  const command = [join(PROJECT, 'src/cli/main.ts'), ...args, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: { PATH, HOME, ...place.env } });
  return JSON.parse(stdout);
}

/** A program asks for a key, as the device flow of openid-client does it; the person who is signed in gives it. */
async function keyForProgram(page: Page, scope: string) {
  const found = await oauth.discovery(new URL(place.url), 'a program', undefined, oauth.None(), {
    algorithm: 'oauth2',
    execute: [oauth.allowInsecureRequests],
  });
  const started = await oauth.initiateDeviceAuthorization(found, { scope });
  await page.goto(started.verification_uri_complete ?? '');
  await expectPage(page, 'Connect a device');
  await page.click('button.main');
  await expectPage(page, 'Authorize this device?');
  await page.click('button[value=approve]');
  await expectPage(page, 'Answer sent');
  return oauth.pollDeviceAuthorizationGrant(found, { ...started, interval: 0.1 });
}

test('signed in by a provider, linked to another, a person hands out a key, pays, and the key spends', async () => {
  const page = await somebody();
  await page.goto(`${place.url}/auth`);
  await expectPage(page, 'Sign in');
  await page.click('text=Continue with corp');
  await page.waitForURL(`${place.url}/auth/account`);
  await page.waitForSelector('text=Ways to sign in');
  expect(await page.textContent('main')).not.toContain('ada-2');
  await expectAccessible(page);
  await page.click('text=Link other');
  await page.waitForURL(`${place.url}/auth/account`);
  await page.waitForSelector('text=ada-2');
  await page.goto(`${place.url}/auth/callback/corp?code=x&state=y`);
  await expectPage(page, 'This sign-in did not begin here');

  const token = await keyForProgram(page, 'account queue');
  const call = client(place.url, token.access_token);
  const balance = async () => (await call('GET', '/v1/account/balance')).body.data;
  expect(await balance()).toMatchObject({ balance_usd: 2, test_usd: 0, trial: { active: true, granted_usd: 2 } });

  const { body } = await call('POST', '/v1/account/topup', { amount_usd: 12.5 });
  await page.goto(body.data.checkout_url);
  await expectAccessible(page);
  await page.check('#card-pays');
  await page.click('button.main');
  await page.click('text=Continue');
  await expectPage(page, 'Thank you');
  expect(await balance()).toMatchObject({ balance_usd: 14.5, test_usd: 12.5 });

  await call('POST', '/v1/queue/create', { name: 'jobs' });
  const published = await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });
  expect(published.body.metadata.balance_usd).toBe(14.5 - published.body.metadata.cost_usd);
  expect((await call('GET', '/v1/operator/accounts/list')).status).toBe(403);
  await page.context().close();
});

test('the operator finds in the outbox the mail that signs a person in; nobody else sees it', async () => {
  const operator = await somebody();
  await operator.goto((await qm('console')).url);
  await expectPage(operator, 'Sign in as the operator');
  await operator.click('button.main');
  await expectSoundConsole(operator, 'Operator');
  await operator.click('main >> text=Mail');
  await expectSoundConsole(operator, 'Mail');
  expect(await operator.innerText('main')).toContain('No mail is waiting.');

  const person = await somebody();
  await person.goto(`${place.url}/auth`);
  await person.fill('#email', 'Bob@Example.org');
  await person.click('text=Email me a sign-in link');
  await expectPage(person, 'Check your email');

  await operator.reload();
  expect(await operator.innerText('main')).toContain('bob@example.org');
  await expectAccessible(operator);
  await operator.click('text=Your sign-in to Quartermaster');
  await expectSoundConsole(operator, 'Your sign-in to Quartermaster');
  const mail = await operator.innerText('pre[aria-label=Text]');
  // What stands in a mail leads nowhere from here.
  expect(await operator.locator('pre a').count()).toBe(0);
  const link = /http:\S+/.exec(mail)?.[0] ?? '';

  await person.goto(link);
  await expectPage(person, 'Sign in');
  await person.click('button.main');
  await person.waitForSelector('text=bob@example.org, owner');
  await expectAccessible(person);
  const refused = await person.goto(operator.url());
  expect(refused?.status()).toBe(403);
  await expectAccessible(person);
  const key = await keyForProgram(person, '');
  const told = await client(place.url, key.access_token)('GET', '/v1/account/balance');
  expect(told.body.data).toMatchObject({ balance_usd: 0, trial: { withheld_reason: 'email_sign_up' } });
  await Promise.all([operator.context().close(), person.context().close()]);
});
