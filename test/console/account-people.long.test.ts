// People, sessions and ways to sign in on the console's page of the account: shown to the person whose they are, invited, ended and removed
// there; a viewer changes nobody, and a key's session sees names only.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMails } from '../../src/people/mail/mail.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { expectSoundPages, openConsole, personSession, press, signedIn, typeInto } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

const PATH = '/console/account';
const HOSTILE = '<svg onload=alert(1)>"\u202e'.padEnd(120, 'w');
let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
let owner: string;
let viewer: string;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 10);
  const { accountId } = account;
  owner = await personSession(service.core, { accountId, email: 'owner@example.org', name: HOSTILE, role: 'owner' });
  viewer = await personSession(service.core, { accountId, email: 'viewer@example.org', name: HOSTILE, role: 'viewer' });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

function visitorOf(session: string): PageVisitor {
  const visitor = new PageVisitor(service.url);
  visitor.cookies.set('qm_session', session);
  return visitor;
}

/** Sends the form of the page that leads to `path`, with its hidden fields as they stand there. */
async function send(visitor: PageVisitor, path: string, fields: Record<string, string> = {}) {
  const { text } = await visitor.get(PATH);
  const form = new RegExp(`<form method="post" action="${path}">([\\s\\S]*?)</form>`).exec(text)?.[1] ?? '';
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
  expect(hidden.length, path).toBeGreaterThan(1);
  return visitor.post(path, { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...fields });
}

test('is sound for an owner and for a viewer, narrow and dark', async () => {
  await expectSoundPages(chromium.browser, service.url, { session: owner }, [['account', 'Account']]);
  await expectSoundPages(chromium.browser, service.url, { session: viewer }, [['account', 'Account']]);
});

test('by keyboard alone an owner invites somebody, who is mailed', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, { session: owner });
  await page.goto(service.url + PATH);
  await typeInto(page, '#email', 'new@example.org');
  await press(page, 'button:has-text("Send invitation")');
  await expect.poll(() => page.textContent('[role=status]')).toContain('new@example.org');
  await press(page, 'main a:has-text("Console")');
  await expect.poll(() => page.textContent('h1')).toBe('Overview');
  const mails = await listMails(service.core.db, { search: 'new@example.org', limit: 5 });
  expect(mails.map(({ to }) => to)).toEqual(['new@example.org']);
  expect(faults).toEqual([]);
});

test('a session on another device is ended from the page, and it comes back there', async () => {
  const person = { accountId: account.accountId, email: 'two@example.org', name: 'Two', role: 'owner' } as const;
  const first = visitorOf(await personSession(service.core, person));
  expect((await first.get(PATH)).text).toContain('(this one)');
  const [sessionId] = /name="session_id" value="[^"]+"/.exec((await first.get(PATH)).text) ?? [];
  expect(sessionId).toBeDefined();
  // Nobody's: nothing ends, and the page follows.
  const kept = await send(first, '/auth/account/end', { session_id: 'session_of_nobody' });
  expect([kept.status, kept.location]).toEqual([303, PATH]);
  const away = await send(first, '/auth/account/end', { session_id: 'x', return_to: 'https://evil.example' });
  expect(away.location).toBe('/auth/account');
  const ended = await send(first, '/auth/account/end');
  expect([ended.status, ended.location]).toEqual([303, '/auth']);
  expect((await first.get(PATH)).location).toContain('/auth?return_to=');
});

test('a person is removed by an owner, and acts for the account no more', async () => {
  const person = { accountId: account.accountId, email: 'gone@example.org', name: 'Gone', role: 'viewer' } as const;
  const gone = visitorOf(await personSession(service.core, person));
  expect((await gone.get(PATH)).status).toBe(200);
  const { text } = await visitorOf(owner).get(PATH);
  const [, personId = ''] = /value="(person_\w+|\w+)"><button aria-label="Remove gone@example.org"/.exec(text) ?? [];
  expect((await send(visitorOf(owner), '/auth/account/remove', { person_id: personId })).text).toContain('was removed');
  expect((await gone.get(PATH)).status).not.toBe(200);
  expect((await visitorOf(owner).get(PATH)).text).not.toContain('gone@example.org');
});

test('a viewer sees the people and changes none; a key’s session sees names alone, and no whole address', async () => {
  const { text } = await visitorOf(viewer).get(PATH);
  expect(text).toContain('owner@example.org');
  expect(text).not.toMatch(/action="\/auth\/account\/(invite|remove)"/);
  const form_token = await visitorOf(viewer).formToken(PATH);
  const refused = await visitorOf(viewer).post('/auth/account/invite', { form_token, email: 'x@example.org' });
  expect(refused.status).toBe(403);
  const byKey = (await (await signedIn(service.url, account.secret)).get(PATH)).text;
  expect([byKey.includes('o•••@example.org'), byKey.includes('owner@example.org')]).toEqual([true, false]);
  expect(byKey).not.toMatch(/action="\/auth\/account\//);
});

test('when a device was seen is told in both zones', async () => {
  const visitor = visitorOf(owner);
  visitor.cookies.set('qm_console', 'light~Asia%2FTokyo~on');
  const { text } = await visitor.get(PATH);
  expect(text).toMatch(/last seen <time datetime="[^"]+" title="[\d-]+ [\d:]+ GMT\+9">[\d-]+ [\d:]+ UTC<\/time>/);
});
