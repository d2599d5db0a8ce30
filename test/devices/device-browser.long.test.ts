// A person gives a device its key in a real browser: signed in, with the code, as much as they like; and what other sites, stale sessions and
// those who may not are refused.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorAccount } from '../../src/core/accounts/operator.ts';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { liveModules } from '../../src/core/callers/scopes.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { createPerson } from '../../src/people/persons.ts';
import type { Role } from '../../src/people/roles.ts';
import { openSession } from '../../src/people/sessions/sessions.ts';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectDone, openConsole, press, typeInto } from '../support/console.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([
    startTestService({ env: { ALLOW_PRIVATE_SOURCES: '127.0.0.0/8' } }),
    startBrowser(),
  ]);
  account = await createTestAccount(service.core);
});
afterAll(async () => {
  await chromium?.close();
  await service?.stop();
});

async function post(path: string, fields: Record<string, string>) {
  const response = await fetch(service.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  return response.json();
}
const start = (scope = '') => post('/oauth/device_authorization', { client_id: '<b>build</b> agent', scope });
const poll = (device_code: string) =>
  post('/oauth/token', { grant_type: GRANT, client_id: '<b>build</b> agent', device_code });

/** A session as a sign-in leaves it: its cookie. */
async function cookieOf(role: Role): Promise<string> {
  const token = await service.core.db.transaction(async (tx) => {
    const nowMs = await clockNow(tx);
    const { accountId } = account;
    const personId = await createPerson(tx, { accountId, email: null, name: 'Ada', role }, nowMs);
    const device = { remoteAddress: '127.0.0.1', agent: 'a test' };
    return openSession(tx, { kind: 'person', personId, accountId }, device, nowMs);
  });
  return `qm_session=${token}`;
}

async function visit(
  cookie: string | null,
  form: Record<string, string> | null = null,
  path = '/device',
  origin = service.url,
) {
  const headers = { origin, ...(cookie === null ? {} : { cookie }) };
  const sent = form === null ? {} : { method: 'POST', body: new URLSearchParams(form) };
  const response = await fetch(service.url + path, { headers, redirect: 'manual', ...sent });
  const text = await response.text();
  const token = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  return {
    status: response.status,
    location: response.headers.get('location'),
    headers: response.headers,
    text,
    token,
  };
}

const heading = (page: Page) => page.textContent('h1');

/** By the link that the device shows, with the key of the account. */
async function signInFor(page: Page, link: string): Promise<void> {
  const { pathname, search } = new URL(link);
  await page.goto(service.url + pathname + search);
  expect(await heading(page)).toBe('Sign in');
  await page.fill('#key', account.secret);
  await page.click('form[action$="/auth/key"] button');
}

test('a person who is sent here by a program goes back to it with a code', async () => {
  const program = createServer(({ headers, url }, answer) => {
    const own = `http://${headers.host}`;
    answer.setHeader('content-type', url === '/client.json' ? 'application/json' : 'text/html');
    const metadata = { client_id: `${own}/client.json`, client_name: 'An agent', redirect_uris: [`${own}/back`] };
    answer.end(url === '/client.json' ? JSON.stringify(metadata) : '<h1>Back</h1>');
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const own = `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: `${own}/client.json`,
    redirect_uri: `${own}/back`,
    scope: 'queue vector',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    state: 'mine',
  });
  const context = await chromium.browser.newContext();
  const page = await context.newPage();
  await signInFor(page, `${service.url}/oauth/authorize?${asked}`);
  expect(await heading(page)).toBe('Authorize this program?');
  await expectAccessible(page);
  await page.fill('#cap', 'much');
  await page.click('button[value=approve]');
  expect(await page.textContent('#cap-fault')).toContain('Enter an amount');
  await expectAccessible(page);
  await page.fill('#cap', '1');
  await page.click('button[value=approve]');
  await page.waitForURL(`${own}/back?**`);
  expect(page.url()).toMatch(/[?]code=[A-Za-z0-9_-]{43}&state=mine&iss=/);
  await context.close();
  program.close();
  program.closeAllConnections();
});

test('signed in with a key, a person narrows what a device gets, and the device gets that', async () => {
  const started = await start('queue vector account:read');
  const context = await chromium.browser.newContext();
  const page = await context.newPage();
  await signInFor(page, started.verification_uri_complete);
  expect(await heading(page)).toBe('Connect a device');
  await expectAccessible(page);
  expect(await page.inputValue('#user_code')).toBe(started.user_code);

  await page.fill('#user_code', 'BBBB-CCCC');
  await page.click('button.main');
  expect(await page.textContent('[role=alert]')).toContain('No device uses this code');
  await expectAccessible(page);

  await page.fill('#user_code', started.user_code.toLowerCase());
  await page.keyboard.press('Enter');
  await page.waitForSelector('#cap');
  expect(await heading(page)).toBe('Authorize this device?');
  const shown = await page.innerText('main');
  for (const text of ['<b>build</b> agent', 'not verified', started.user_code, '127.0.0.1', account.accountId])
    expect(shown).toContain(text);
  await expectAccessible(page);

  const chosen = () =>
    page.locator('select[name=scope]').evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).value));
  expect(await chosen()).toEqual(['account:read', 'queue', 'vector']);
  expect(await page.locator('#scope-account option').allInnerTexts()).toEqual(['no access', 'read']);
  expect([await page.inputValue('#lifetime'), await page.inputValue('#cap')]).toEqual(['90', '5']);
  await page.click('button[value=write]');
  expect(await chosen()).toEqual(['account:read', 'queue:write', 'vector:write']);
  await expectAccessible(page);
  await page.selectOption('#scope-vector', '');
  await page.selectOption('#lifetime', '7');
  await page.fill('#cap', 'much');
  await page.click('button[value=approve]');
  expect(await page.textContent('#cap-fault')).toContain('Enter an amount');
  expect(await page.inputValue('#scope-vector')).toBe('');
  await expectAccessible(page);
  await page.fill('#cap', '0.25');
  await page.selectOption('#period', 'daily');
  await page.click('button[value=approve]');
  expect(await heading(page)).toBe('Answer sent');
  await expectAccessible(page);

  const token = await poll(started.device_code);
  expect(token).toMatchObject({ scope: 'account:read queue:write', account_id: account.accountId });
  expect(token.expires_in).toBeGreaterThan(7 * 86_400 - 60);
  const call = client(service.url, token.access_token);
  expect((await call('GET', '/v1/account/balance')).status).toBe(200);
  const [key] = (await client(service.url, account.secret)('GET', '/v1/account/keys/list')).body.data.items;
  expect(key).toMatchObject({
    key_id: token.key_id,
    spend_cap_usd: 0.25,
    spend_cap_period: 'daily',
    name: '<b>build</b> agent',
  });
  await context.close();
});

test('by keyboard alone a device is given a key, the key is revoked in the console, and its next call is refused', async () => {
  const started = await start('queue account:read');
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  const { pathname, search } = new URL(started.verification_uri_complete);
  await page.goto(service.url + pathname + search);
  await press(page, 'button.main');
  await press(page, 'button[value=approve]');
  await expect.poll(() => heading(page)).toBe('Answer sent');
  const token = await poll(started.device_code);
  const call = client(service.url, token.access_token);
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
  await page.goto(`${service.url}/console/keys`);
  await press(page, `a[href$="/keys/${token.key_id}"]`);
  await press(page, 'a:has-text("Revoke key")');
  await typeInto(page, '#revoke-typed', token.key_id);
  await page.keyboard.press('Enter');
  await expectDone(page, 'Its next call is refused');
  expect((await call('GET', '/v1/queue/list')).status).toBe(401);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person denies, and the device is told', async () => {
  const started = await start();
  const cookie = await cookieOf('owner');
  const { token } = await visit(cookie);
  const found = await visit(cookie, { form_token: token, user_code: started.user_code });
  expect(found.text).toContain('read and write, except keys');
  expect(found.text).not.toContain('value="db:read"');
  const chosen = [...found.text.matchAll(/<option value="([^"]+)" selected>/g)].map(([, value]) => value);
  expect(chosen).toEqual([...liveModules(service.core.knownScopes).map((module) => `${module}:read`), '90', 'monthly']);
  const answer = await visit(cookie, { form_token: token, user_code: started.user_code, action: 'deny' });
  expect(answer).toMatchObject({ status: 303, location: '/device?decided' });
  expect((await poll(started.device_code)).error).toBe('access_denied');
});

test('forms of other sites, without the token of the session, or of nobody, decide nothing; nor does any GET', async () => {
  const started = await start();
  const cookie = await cookieOf('owner');
  const { token, headers } = await visit(cookie);
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  const form = { form_token: token, user_code: started.user_code, action: 'approve', scope: 'queue', lifetime: '' };
  expect((await visit(cookie, form, '/device', 'https://evil.example')).status).toBe(403);
  expect((await visit(cookie, { ...form, form_token: '' })).status).toBe(403);
  const other = await visit(await cookieOf('owner'));
  expect((await visit(cookie, { ...form, form_token: other.token })).status).toBe(403);
  expect(await visit(null, form)).toMatchObject({ status: 303, location: '/auth?return_to=%2Fdevice' });
  await visit(cookie, null, `/device?${new URLSearchParams(form)}`);
  expect((await poll(started.device_code)).error).toBe('authorization_pending');
});

test('who may not make keys cannot make one this way: viewers, keys without account:admin, a sign-in of an hour ago', async () => {
  expect((await visit(await cookieOf('viewer'))).status).toBe(403);
  const { secret } = await service.core.db.transaction(async (tx) => {
    const nowMs = await lockCaller(tx, account.accountId);
    const fields = { name: null, scopes: ['queue', 'account:write'], expiresAtMs: null, cap: null };
    return createKey(tx, service.core.secrets, account.accountId, fields, nowMs);
  });
  const signedIn = await visit(null, { key: secret, return_to: '/device' }, '/auth/key');
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect(signedIn.location).toBe('/device');
  expect((await visit(cookie)).text).toContain('You may not make keys');
  const owner = await cookieOf('owner');
  await service.advance(3_600);
  expect(await visit(owner)).toMatchObject({ status: 303, location: '/auth?again=1&return_to=%2Fdevice' });
});

test('five wrong codes block the page for ten minutes, the right one included', async () => {
  const started = await start();
  const cookie = await cookieOf('owner');
  const { token } = await visit(cookie);
  const guess = (user_code: string) => visit(cookie, { form_token: token, user_code });
  for (let i = 0; i < 5; i += 1) expect((await guess(`BBBB-BBB${'CDFGH'[i]}`)).status).toBe(400);
  const blocked = await guess(started.user_code);
  expect(blocked.status).toBe(429);
  expect(blocked.text).toContain('Too many wrong codes');
  await service.advance(601);
  const again = await visit(cookie, { form_token: token, user_code: (await start()).user_code });
  expect(again.status).toBe(200);
});

test('the operator’s link opens one session, once, by its button, within ten minutes', async () => {
  const { core } = service;
  const link = async () => core.db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  const [first, late] = [await link(), await link()];
  const context = await chromium.browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.url}/auth/operator/${first}`);
  await page.reload();
  await expectAccessible(page);
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.click('button.main');
  const signedIn = await answered;
  expect(signedIn.status()).toBe(303);
  const [session] = await context.cookies();
  expect(session?.httpOnly).toBe(true);
  const operator = await operatorAccount(core.db);
  const code = (await start()).user_code;
  const cookie = `qm_session=${session?.value}`;
  const { token } = await visit(cookie);
  expect((await visit(cookie, { form_token: token, user_code: code })).text).toContain(operator);
  expect((await visit(null, {}, `/auth/operator/${first}`)).status).toBe(404);
  expect((await visit(null, {}, `/auth/operator/${late}`, 'https://evil.example')).status).toBe(403);
  await service.advance(600);
  expect((await visit(null, {}, `/auth/operator/${late}`)).status).toBe(404);
  await context.close();
});
