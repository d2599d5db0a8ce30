// The page of the charge limit in a real browser: a person who owns the account changes it after a sign-in of the last minutes, nobody else.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { createPerson } from '../../src/people/persons.ts';
import type { Role } from '../../src/people/roles.ts';
import { type Device, openSession, type SessionOwner } from '../../src/people/sessions/sessions.ts';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 0);
});
afterAll(async () => {
  await chromium?.close();
  await service?.stop();
});

const device: Device = { remoteAddress: '192.0.2.1', agent: 'Browser/1' };
const limit = async () =>
  (await client(service.url, account.secret)('GET', '/v1/account/autorecharge/get')).body.data.charge_limit_usd;

/** Opens the page in a session of its own. */
async function open(owner: Role | 'key'): Promise<Page> {
  const { db, keys } = service.core;
  const { accountId } = account;
  const key = await keys.find(account.secret);
  const token = await db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    if (owner === 'key') return openSession(tx, { kind: 'key', key } as SessionOwner, device, nowMs);
    const email = `${owner}@example.org`;
    const personId = await createPerson(tx, { accountId, email, name: null, role: owner }, nowMs);
    return openSession(tx, { kind: 'person', personId, accountId }, device, nowMs);
  });
  const context = await chromium.browser.newContext();
  await context.addCookies([{ name: 'qm_session', value: token, url: service.url }]);
  const page = await context.newPage();
  await page.goto(`${service.url}/wallet/charge-limit`);
  return page;
}

async function save(page: Page, usd: string) {
  await page.fill('#limit_usd', usd);
  await page.click('main button.main');
}

test('its owner changes it; what is no amount is told at the field; the page holds for everybody', async () => {
  const page = await open('owner');
  expect(await page.inputValue('#limit_usd')).toBe('500');
  await expectAccessible(page);
  await save(page, '1e9');
  expect(await page.textContent('[role=alert]')).toContain('from 0 to 100000 USD');
  await expectAccessible(page);
  expect(await limit()).toBe(500);
  await save(page, '750.50');
  await page.waitForURL('**/wallet/charge-limit');
  expect(await page.inputValue('#limit_usd')).toBe('750.5');
  expect(await limit()).toBe(750.5);
});

test('a form of another session, or of another site, changes nothing', async () => {
  const page = await open('owner');
  const before = await limit();
  await page.evaluate(`document.querySelector('main [name=form_token]').value = 'x'`);
  await save(page, '900');
  expect(await page.textContent('h1')).toContain('form');
  const [cookie] = await page.context().cookies();
  const headers = { cookie: `qm_session=${cookie?.value}`, origin: 'https://other.example' };
  const body = new URLSearchParams({ limit_usd: '900' });
  const foreign = await fetch(`${service.url}/wallet/charge-limit`, { method: 'POST', body, headers });
  expect(foreign.status).toBe(403);
  expect(await limit()).toBe(before);
});

test('a sign-in that is older than 15 minutes has to be repeated', async () => {
  const page = await open('owner');
  const before = await limit();
  await service.advance(16 * 60);
  await save(page, '900');
  expect(new URL(page.url()).pathname).toBe('/auth');
  expect(await limit()).toBe(before);
});

test('a key, a viewer and whoever is not signed in do not', async () => {
  for (const who of ['key', 'viewer'] as const) {
    const page = await open(who);
    expect(await page.textContent('h1')).toBe('You cannot change this');
    await expectAccessible(page);
  }
  const answer = await fetch(`${service.url}/wallet/charge-limit`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/auth\?return_to=/)]);
});
