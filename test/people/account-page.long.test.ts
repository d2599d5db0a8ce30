// Signing in and what follows, in a real browser without scripts, each page looked at by axe; and who may do what there.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { membersOf } from '../../src/people/persons.ts';
import { deleteAccount } from '../../src/upkeep/deletion/deletion.ts';
import { expectAccessible } from '../support/axe.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
});
afterAll(async () => {
  await chromium?.close();
  await service?.stop();
});

async function lastMail(email: string) {
  const mail = (await listMails(service.core.db, { limit: 50 })).find(({ to }) => to === email);
  const path = /\/auth\/mail\/[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '';
  return { path, code: /\b\d{3} \d{3}\b/.exec(mail?.text ?? '')?.[0] ?? '' };
}

async function signedIn(email: string): Promise<PageVisitor> {
  const visitor = new PageVisitor(service.url);
  await visitor.post('/auth/mail', { email });
  await visitor.post((await lastMail(email)).path, {});
  return visitor;
}

async function act(visitor: PageVisitor, path: string, fields: Record<string, string>) {
  return visitor.post(path, { ...fields, form_token: await visitor.formToken('/auth/account') });
}

async function accountOf(visitor: PageVisitor): Promise<string> {
  return /acct_email_\w+/.exec((await visitor.get('/auth/account')).text)?.[0] ?? '';
}

async function newPage(): Promise<Page> {
  const context = await chromium.browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  return page;
}

test('from the address by code to the account, an invitation, and out on every device', async () => {
  const page = await newPage();
  await page.goto(`${service.url}/auth/account`);
  expect(new URL(page.url()).pathname).toBe('/auth');
  await expectAccessible(page);
  await page.fill('#email', 'no address@x');
  await page.locator('form[action="/auth/mail"]').evaluate((form) => (form as HTMLFormElement).submit());
  await page.waitForSelector('#email-fault');
  await expectAccessible(page);
  await page.fill('#email', 'ada@example.org');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#code');
  await expectAccessible(page);
  await page.fill('#code', '1');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#code-fault');
  await expectAccessible(page);
  await page.fill('#code', (await lastMail('ada@example.org')).code);
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=Sign out everywhere');
  expect(new URL(page.url()).pathname).toBe('/auth/account');
  await expectAccessible(page);
  await page.fill('#email', 'bob@example.org');
  await page.click('text=Send invitation');
  await page.waitForSelector('text=on its way to bob@example.org');
  await expectAccessible(page);

  const guest = await newPage();
  await guest.goto(service.url + (await lastMail('bob@example.org')).path);
  await expectAccessible(guest);
  await guest.click('button.main');
  await guest.waitForSelector('text=bob@example.org, viewer');
  expect(await guest.locator('#email').count()).toBe(0);
  await guest.context().close();

  const second = await signedIn('ada@example.org');
  await page.reload();
  await page.click('text=Sign out everywhere');
  await page.waitForSelector('#key');
  expect(await page.context().cookies()).toEqual([]);
  expect((await second.get('/auth/account')).status).toBe(303);
  await page.goto(`${service.url}/auth/mail/${'x'.repeat(43)}`);
  await expectAccessible(page);
  await page.context().close();
});

test('a session is ended on one device by another of its person, and by nobody else', async () => {
  const [first, second, stranger] = [
    await signedIn('eve@example.org'),
    await signedIn('eve@example.org'),
    await signedIn('mallory@example.org'),
  ];
  const ids = [...(await first.get('/auth/account')).text.matchAll(/name="session_id" value="([^"]+)"/g)].map(
    ([, id]) => id ?? '',
  );
  expect(ids).toHaveLength(2);
  for (const session_id of ids) await act(stranger, '/auth/account/end', { session_id });
  for (const each of [first, second]) expect((await each.get('/auth/account')).status).toBe(200);
  const isFirst = (await first.get('/auth/account')).text;
  const own = /\(this one\)[\s\S]*?name="session_id" value="([^"]+)"/.exec(isFirst)?.[1];
  const session_id = ids.find((id) => id !== own) ?? '';
  await act(first, '/auth/account/end', { session_id });
  expect((await second.get('/auth/account')).status).toBe(303);
  expect((await first.get('/auth/account')).status).toBe(200);
});

test('viewers invite and remove nobody, and owners only soon after they signed in', async () => {
  const owner = await signedIn('owner@example.org');
  await act(owner, '/auth/account/invite', { email: 'viewer@example.org', role: 'viewer' });
  const viewer = new PageVisitor(service.url);
  await viewer.post((await lastMail('viewer@example.org')).path, {});
  expect((await act(viewer, '/auth/account/invite', { email: 'x@example.org', role: 'owner' })).status).toBe(403);
  const accountId = await accountOf(owner);
  const [first] = await membersOf(service.core.db, accountId);
  const person_id = first?.personId ?? '';
  expect((await act(viewer, '/auth/account/remove', { person_id })).status).toBe(403);
  expect((await act(owner, '/auth/account/remove', { person_id })).status).toBe(409);
  await service.advance(15 * 60);
  const late = await act(owner, '/auth/account/invite', { email: 'late@example.org', role: 'viewer' });
  expect(late.location).toBe('/auth?again=1&return_to=%2Fauth%2Faccount');
  expect((await owner.get(late.location ?? '')).text).toContain('needs a sign-in within the last 15 minutes');
  expect((await lastMail('late@example.org')).path).toBe('');
});

test('who is in two accounts acts for one of them, and for none of a stranger; who is removed acts there no more', async () => {
  const owner = await signedIn('first@example.org');
  const both = await signedIn('both@example.org');
  const [theirs, own] = [await accountOf(owner), await accountOf(both)];
  const stranger = await accountOf(await signedIn('third@example.org'));
  await act(owner, '/auth/account/invite', { email: 'both@example.org', role: 'viewer' });
  await both.post((await lastMail('both@example.org')).path, {});
  const shown = async () => /<dt>Account<\/dt><dd>(\w+)/.exec((await both.get('/auth/account')).text)?.[1];
  expect(await shown()).toBe(theirs);
  await act(both, '/auth/account/switch', { account_id: own });
  expect(await shown()).toBe(own);
  await act(both, '/auth/account/switch', { account_id: stranger });
  expect(await shown()).toBe(own);
  await act(both, '/auth/account/switch', { account_id: theirs });
  const guest = (await membersOf(service.core.db, theirs)).find(({ role }) => role === 'viewer');
  await act(owner, '/auth/account/remove', { person_id: guest?.personId ?? '' });
  expect((await both.get('/auth/account')).status).toBe(303);
  const again = await signedIn('both@example.org');
  expect(await accountOf(again)).toBe(own);
});

test('who was removed from the only account is as new', async () => {
  const owner = await signedIn('keeps@example.org');
  await act(owner, '/auth/account/invite', { email: 'leaves@example.org', role: 'owner' });
  const leaving = new PageVisitor(service.url);
  await leaving.post((await lastMail('leaves@example.org')).path, {});
  const account = await accountOf(owner);
  const [, second] = await membersOf(service.core.db, account);
  expect((await act(owner, '/auth/account/remove', { person_id: second?.personId ?? '' })).status).toBe(200);
  const again = await signedIn('leaves@example.org');
  expect((await again.get('/auth/account')).text).toContain('leaves@example.org, owner');
  expect(await accountOf(again)).not.toBe(account);
});

test('a deleted account says so, and its owner restores it by a button', async () => {
  const email = 'deletes@example.org';
  const accountId = await accountOf(await signedIn(email));
  await service.core.db.transaction(async (tx) => {
    const nowMs = await lockCaller(tx, accountId);
    await deleteAccount(tx, accountId, { forfeit: true, requestId: 'req_test', nowMs });
  });
  const page = await newPage();
  await page.goto(`${service.url}/auth`);
  await page.fill('#email', email);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#code');
  await page.fill('#code', (await lastMail(email)).code);
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=This account was deleted');
  await expectAccessible(page);
  await page.click('text=Restore the account');
  await page.waitForSelector('text=The account is restored');
  await expectAccessible(page);
  await page.context().close();
});

test('forms without the token of their session are refused, and no page may be framed', async () => {
  const [owner, other] = [await signedIn('forms@example.org'), await signedIn('others@example.org')];
  const foreign = await other.formToken('/auth/account');
  const paths = ['switch', 'end', 'invite', 'cancel-invitation', 'remove', 'restore'].map(
    (name) => `/auth/account/${name}`,
  );
  for (const path of [...paths, '/auth/sign-out'])
    for (const form_token of ['', foreign]) expect((await owner.post(path, { form_token, all: '1' })).status).toBe(403);
  const form_token = await owner.formToken('/auth/account');
  const elsewhere = await owner.post('/auth/account/end', { form_token, all: '1' }, { 'sec-fetch-site': 'cross-site' });
  expect(elsewhere.status).toBe(403);
  for (const path of ['/auth', '/auth/code', '/auth/account', `/auth/mail/${'x'.repeat(43)}`]) {
    const { headers, status } = await (path === '/auth' ? new PageVisitor(service.url) : owner).get(path);
    expect([200, 404]).toContain(status);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});
