// Signing in by identity providers, from the first link to the session, and linking a second identity: over HTTP, with real providers.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createAccount, findAccount, lockAccount } from '../../src/core/accounts/accounts.ts';
import { createKey, rotateKey } from '../../src/core/keys/changes.ts';
import { createPerson, findByIdentity, membershipsOf, type Role, setMember } from '../../src/core/people/persons.ts';
import { findSession, formToken, openSession } from '../../src/core/people/sessions/sessions.ts';
import { personOf } from '../../src/core/people/sign-in/by-provider.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { balanceOf } from '../../src/core/wallet/ledger/read.ts';
import { type Walker, walker } from '../support/identity/browser-walk.ts';
import { type GitHubServer, startGitHub } from '../support/identity/github.ts';
import { type OidcServer, type Person, startOidc } from '../support/identity/oidc.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { freePort } from '../support/process.ts';
import { client, startTestService, type TestService } from '../support/service.ts';

let it: TestService;
let corp: OidcServer;
let other: OidcServer;
let github: GitHubServer;

beforeAll(async () => {
  const port = await freePort();
  const callback = (id: string) => `http://127.0.0.1:${port}/auth/callback/${id}`;
  [corp, other, github] = await Promise.all([
    startOidc([callback('corp')]),
    startOidc([callback('other')]),
    startGitHub(),
  ]);
  const providers = [corp.entry('corp'), other.entry('other'), github.entry('github')];
  it = await startTestService({ env: { PORT: String(port), IDENTITY_PROVIDERS: JSON.stringify(providers) } });
});
afterAll(async () => {
  await Promise.all([it?.stop(), corp?.stop(), other?.stop(), github?.stop()]);
});

let last = 0;
let ada: Person;
beforeEach(() => {
  last += 1;
  ada = { sub: `ada-${last}`, email: `ada${last}@example.org`, email_verified: true, name: 'Ada' };
  corp.person = ada;
  other.person = { sub: `other-${last}`, email: `other${last}@example.org`, email_verified: true };
});

const start = (id: string, returnTo = '/auth/account') =>
  `${it.url}/auth/start/${id}?return_to=${encodeURIComponent(returnTo)}`;

/** Where the provider sends the browser back to. */
function away(browser: Walker, id = 'corp', returnTo?: string): Promise<URL> {
  return browser.walk(start(id, returnTo), `${it.url}/auth/callback/`);
}

async function signIn(browser: Walker, id = 'corp', returnTo?: string): Promise<Response> {
  return browser.get((await away(browser, id, returnTo)).href);
}

async function sessionOf(browser: Walker) {
  const token = /qm_session=([^;]+)/.exec(browser.cookies(it.url))?.[1] ?? '';
  return (await findSession(it.core.db, token))?.session ?? null;
}

async function accountOf(browser: Walker): Promise<string> {
  return (await sessionOf(browser))?.accountId ?? '';
}

async function trialOf(accountId: string) {
  return (await balanceOf(it.core.db, accountId)).trial;
}

/** As the page of the account links one more identity: by its form, then by the page that leads on. */
async function link(browser: Walker, id: string, headers = {}, token?: string): Promise<Response> {
  const session = await sessionOf(browser);
  const form_token = token ?? (session === null ? '' : formToken(it.core.secrets, session));
  const answer = await browser.post(`${it.url}/auth/start/${id}`, { form_token, return_to: '/auth/account' }, headers);
  const onward = answer.headers.get('refresh')?.replace('0; url=', '');
  if (onward === undefined) return answer;
  return browser.get((await browser.walk(onward, `${it.url}/auth/callback/`)).href);
}

const action = (value: string) => ({ action: value });

/** Answers the question of what goes over, as its page was shown. */
async function agree(
  browser: Walker,
  page: string,
  fields: Record<string, string> = action('merge'),
): Promise<Response> {
  const [form_token, linking] = ['form_token', 'linking'].map(
    (name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '',
  );
  return browser.post(`${it.url}/auth/link`, { form_token: form_token ?? '', linking: linking ?? '', ...fields });
}

async function linkAndAgree(browser: Walker, id: string): Promise<Response> {
  const asked = await link(browser, id);
  return asked.status === 200 ? agree(browser, await asked.text()) : asked;
}

function addKey(accountId: string, name: string) {
  const { db, secrets } = it.core;
  return db.transaction(async (tx) => {
    const nowMs = (await lockAccount(tx, accountId)) as number;
    return createKey(tx, secrets, accountId, { name, scopes: null, expiresAtMs: null, cap: null }, nowMs);
  });
}

const balance = async (accountId: string) => (await balanceOf(it.core.db, accountId)).balance_usd;

test('the first sign-in makes a person with an account and its credit, the next one finds them', async () => {
  const browser = walker();
  const answer = await signIn(browser, 'corp', '/auth/account?tab=keys');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/auth/account?tab=keys']);
  const accountId = await accountOf(browser);
  expect(accountId).toMatch(/^acct_anon_/);
  expect(await trialOf(accountId)).toMatchObject({ granted_usd: 2, withheld_reason: null });
  const again = walker();
  await signIn(again);
  expect(await accountOf(again)).toBe(accountId);
  expect(await sessionOf(again)).not.toMatchObject({ sessionId: (await sessionOf(browser))?.sessionId });
});

test('of several that come at once with a new identity one makes the person', async () => {
  const browsers = Array.from({ length: 6 }, walker);
  const callbacks = await Promise.all(browsers.map((browser) => away(browser)));
  await Promise.all(browsers.map((browser, i) => browser.get(callbacks[i]?.href ?? '')));
  const accounts = new Set(await Promise.all(browsers.map(accountOf)));
  expect(accounts.size).toBe(1);
  expect(await trialOf([...accounts][0] ?? '')).toMatchObject({ granted_usd: 2 });
});

test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', ''])(
  'nobody is sent on to %j',
  async (returnTo) => {
    const answer = await signIn(walker(), 'corp', returnTo);
    expect(answer.headers.get('location')).toBe('/auth/account');
  },
);

test('a callback signs in only the browser that was sent away, once, and only at its provider', async () => {
  const [browser, stranger] = [walker(), walker()];
  const callback = await away(browser);
  expect((await stranger.get(callback.href)).status).toBe(400);
  const elsewhere = callback.href.replace('/callback/corp', '/callback/other');
  expect((await browser.get(elsewhere)).status).toBe(400);
  expect([await sessionOf(stranger), await sessionOf(browser)]).toEqual([null, null]);
  const begun = browser.cookies(it.url);
  const mine = await signIn(browser);
  expect(mine.status).toBe(303);
  // The code is used: with the cookie of before too.
  for (const pair of begun.split('; ')) stranger.set(it.url, pair);
  expect((await stranger.get(callback.href)).status).toBe(400);
});

test('an attempt is over after ten minutes, and what is garbled begins nothing', async () => {
  const browser = walker();
  const callback = await away(browser);
  await it.advance(601);
  expect((await browser.get(callback.href)).status).toBe(400);
  browser.set(it.url, `qm_identity=${'A'.repeat(400)}`);
  expect((await browser.get(callback.href)).status).toBe(400);
  expect((await browser.get(`${it.url}/auth/start/nobody`)).status).toBe(404);
});

test('an equal address makes nobody the same: another provider, another account, no second credit', async () => {
  const [browser, second] = [walker(), walker()];
  await signIn(browser);
  other.person = { ...ada, sub: `other-${last}` };
  await signIn(second, 'other');
  const [one, two] = [await accountOf(browser), await accountOf(second)];
  expect(one).not.toBe(two);
  expect(await trialOf(two)).toMatchObject({ granted_usd: 0, withheld_reason: 'email_used' });
});

test('GitHub signs in too; without a verified address there is no credit', async () => {
  github.user = { id: last, login: 'octocat', emails: [] };
  const browser = walker();
  expect((await signIn(browser, 'github')).status).toBe(303);
  expect(await trialOf(await accountOf(browser))).toMatchObject({ withheld_reason: 'no_verified_email' });
});

test('where nobody may sign up a stranger is told so, and who is known still comes in', async () => {
  const identity = { issuer: 'https://id.example', subject: 'x', verifiedEmail: 'x@Example.org', name: null };
  const arrival = { identity, remoteAddress: '127.0.0.1' };
  const closed = { ...it.core, signUp: { isOpen: false, domains: [] } };
  await expect(personOf(closed, arrival)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED', httpStatus: 403 });
  const elsewhere = { ...it.core, signUp: { isOpen: true, domains: ['corp.example'] } };
  await expect(personOf(elsewhere, arrival)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED' });
  const unverified = { ...arrival, identity: { ...identity, verifiedEmail: null } };
  await expect(personOf(elsewhere, unverified)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED' });
  const here = { ...it.core, signUp: { isOpen: true, domains: ['example.org'] } };
  const person = await personOf(here, arrival);
  expect(await personOf(closed, arrival)).toEqual(person);
});

test('who signed up by mail links a provider: the same account, and its credit now', async () => {
  const { db } = it.core;
  const browser = walker();
  const accountId = await db.transaction(async (tx) => {
    const made = await createAccount(tx, { email: `mail${last}@example.org` });
    const nowMs = Date.now() + 3_600_000;
    const personId = await createPerson(tx, { accountId: made, email: null, name: null, role: 'owner' }, nowMs);
    const device = { remoteAddress: '127.0.0.1', agent: 'x' };
    const token = await openSession(tx, { kind: 'person', personId, accountId: made }, device, nowMs);
    browser.set(it.url, `qm_session=${token}`);
    return made;
  });
  expect(await trialOf(accountId)).toMatchObject({ withheld_reason: 'email_sign_up' });
  expect((await link(browser, 'corp')).headers.get('location')).toBe('/auth/account');
  expect(await trialOf(accountId)).toMatchObject({ granted_usd: 2, withheld_reason: null });
  const later = walker();
  await signIn(later);
  expect(await accountOf(later)).toBe(accountId);
});

test('a verified address of a linked identity is bound to an account that had none, by its owners only', async () => {
  const { core } = it;
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const emailOf = async (accountId: string) => (await findAccount(core.db, accountId))?.email;
  corp.person = { ...ada, email_verified: false };
  other.person = { ...other.person, email_verified: false };
  github.user = { id: 1_000 + last, login: 'ada', emails: [{ email: 'a@example.net', primary: true, verified: true }] };
  const browser = walker();
  await signIn(browser);
  const accountId = await accountOf(browser);
  const { secret } = await core.db.transaction((tx) => createKey(tx, core.secrets, accountId, fields, Date.now()));
  const topup = async () => (await client(it.url, secret)('POST', '/v1/account/topup', {})).body;

  await link(browser, 'other');
  expect([await emailOf(accountId), (await topup()).error.code]).toEqual([null, 'EMAIL_BINDING_REQUIRED']);
  const personId = (await sessionOf(browser))?.personId ?? '';
  const become = (role: Role) => core.db.transaction((tx) => setMember(tx, { personId, accountId, role }, Date.now()));
  await become('viewer');
  await link(browser, 'github');
  expect(await emailOf(accountId)).toBeNull();
  await become('owner');
  github.user = { ...github.user, id: 2_000 + last };
  await link(browser, 'github');
  expect([await emailOf(accountId), (await topup()).ok]).toEqual(['a@example.net', true]);
  github.user = { id: 3_000 + last, login: 'ada', emails: [{ email: 'b@example.net', primary: true, verified: true }] };
  await link(browser, 'github');
  expect(await emailOf(accountId)).toBe('a@example.net');
});

test('an empty account goes over with its keys, and both identities are one person', async () => {
  const [browser, second] = [walker(), walker()];
  await signIn(browser);
  await signIn(second, 'other');
  const [into, from] = [await accountOf(browser), await accountOf(second)];
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const { secret } = await it.core.db.transaction((tx) => createKey(tx, it.core.secrets, from, fields, Date.now()));
  expect((await linkAndAgree(browser, 'other')).status).toBe(303);
  // The second credit is void.
  expect((await client(it.url, secret)('GET', '/v1/account/balance')).body.data).toMatchObject({ balance_usd: 2 });
  expect(await sessionOf(second)).toBeNull();
  await signIn(second, 'other');
  expect(await accountOf(second)).toBe(into);
  const person = await findByIdentity(it.core.db, { issuer: other.issuer, subject: `other-${last}` });
  expect(await membershipsOf(it.core.db, person?.personId ?? '')).toMatchObject([{ accountId: into, role: 'owner' }]);
});

/** Two accounts of one human, with credit in the one that would go over. */
async function two() {
  const [browser, second] = [walker(), walker()];
  await signIn(browser);
  await signIn(second, 'other');
  const [into, from] = [await accountOf(browser), await accountOf(second)];
  const credit = { kind: 'paid', amountNanos: 7_000_000_000n, expiresInMs: null, note: null } as const;
  await it.core.db.transaction((tx) => grantCredit(tx, from, credit));
  return { browser, second, into, from };
}

test('nothing goes over before the person has seen both accounts and every key that could spend it', async () => {
  const { browser, into, from } = await two();
  await addKey(into, 'kept by a stranger');
  await addKey(from, 'comes along');
  const asked = await link(browser, 'other');
  const page = await asked.text();
  expect(asked.status).toBe(200);
  for (const text of [into, from, 'kept by a stranger', 'comes along', 'Merge the accounts'])
    expect(page).toContain(text);
  expect([await balance(into), await balance(from)]).toEqual([2, 9]);
  const person = await findByIdentity(it.core.db, { issuer: other.issuer, subject: `other-${last}` });
  expect(person?.personId).not.toBe((await sessionOf(browser))?.personId);
  expect((await agree(browser, page)).status).toBe(303);
  expect([await balance(into), await balance(from)]).toEqual([9, 0]);
});

test('a key that appears after the question, or while it is answered, is asked about again', async () => {
  const { browser, into, from } = await two();
  const first = await (await link(browser, 'other')).text();
  await addKey(into, 'planted');
  const again = await agree(browser, first);
  const second = await again.text();
  expect([again.status, second.includes('planted'), await balance(from)]).toEqual([409, true, 9]);
  let answer: Promise<Response> | undefined;
  await it.core.db.transaction(async (tx) => {
    const nowMs = (await lockAccount(tx, into)) as number;
    answer = agree(browser, second);
    await vi.waitFor(async () => expect(await lockWaiters(it.core.db)).toBe(1), { timeout: 1_500, interval: 10 });
    const fields = { name: 'planted late', scopes: null, expiresAtMs: null, cap: null };
    await createKey(tx, it.core.secrets, into, fields, nowMs);
  });
  const third = await (await answer)?.text();
  expect([third?.includes('planted late'), await balance(from)]).toEqual([true, 9]);
  expect((await agree(browser, third ?? '')).status).toBe(303);
  expect([await balance(into), await balance(from)]).toEqual([9, 0]);
});

test('a rotated secret, and a further person, are asked about again; whoever wants keeps both accounts', async () => {
  const { browser, into, from } = await two();
  const { key } = await addKey(into, 'rotated');
  const first = await (await link(browser, 'other')).text();
  const { db, secrets } = it.core;
  await db.transaction((tx) => rotateKey(tx, secrets, into, key.keyId, 0, Date.now()));
  const second = await agree(browser, first);
  expect(second.status).toBe(409);
  const guest = { accountId: into, email: 'guest@example.org', name: null, role: 'owner' } as const;
  await db.transaction((tx) => createPerson(tx, guest, Date.now()));
  const third = await agree(browser, await second.text());
  const page = await third.text();
  expect([third.status, page.includes('guest@example.org')]).toEqual([409, true]);
  expect((await agree(browser, page, action('apart'))).status).toBe(303);
  expect([await balance(into), await balance(from)]).toEqual([2, 9]);
  const personId = (await sessionOf(browser))?.personId ?? '';
  expect((await membershipsOf(db, personId)).map(({ accountId }) => accountId).sort()).toEqual([into, from].sort());
});

test('the question is answered by the person who was asked, within ten minutes, on a page of this service', async () => {
  const { browser, second, from } = await two();
  const page = await (await link(browser, 'other')).text();
  const linking = /name="linking" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const session = await sessionOf(second);
  const form_token = session === null ? '' : formToken(it.core.secrets, session);
  const stranger = await second.post(`${it.url}/auth/link`, { form_token, linking, action: 'merge' });
  expect(stranger.status).toBe(400);
  expect((await agree(browser, page.replace(linking, `A${linking.slice(1)}`))).status).toBe(400);
  expect((await browser.post(`${it.url}/auth/link`, { linking, action: 'merge' })).status).toBe(403);
  await it.advance(601);
  expect((await agree(browser, page)).status).toBe(400);
  expect(await balance(from)).toBe(9);
});

test('an account that is in use stays, and the person has both', async () => {
  const [browser, second] = [walker(), walker()];
  await signIn(browser);
  await signIn(second, 'other');
  const [into, from] = [await accountOf(browser), await accountOf(second)];
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const { secret } = await it.core.db.transaction((tx) => createKey(tx, it.core.secrets, from, fields, Date.now()));
  const call = client(it.url, secret);
  expect((await call('POST', '/v1/queue/create', { name: 'jobs' })).status).toBe(200);
  expect((await link(browser, 'other')).status).toBe(409);
  expect((await call('GET', '/v1/queue/get/jobs')).status).toBe(200);
  const personId = (await sessionOf(browser))?.personId ?? '';
  const accounts = (await membershipsOf(it.core.db, personId)).map(({ accountId }) => accountId);
  expect(accounts.sort()).toEqual([into, from].sort());
});

test('nothing links but a form of the own session, of the last 15 minutes', async () => {
  const [browser, stranger] = [walker(), walker()];
  await signIn(browser);
  const mine = await accountOf(browser);
  expect((await link(stranger, 'other')).status).toBe(403);
  expect((await link(browser, 'other', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await link(browser, 'other', {}, 'A'.repeat(43))).status).toBe(403);
  // A GET signs in as who comes back.
  await signIn(browser, 'other');
  expect(await accountOf(browser)).not.toBe(mine);
  await it.advance(16 * 60);
  const refused = await link(browser, 'github');
  expect([refused.status, refused.headers.get('location')]).toEqual([303, expect.stringContaining('again=1')]);
});

test('what began with a live session links nothing once that has ended', async () => {
  const browser = walker();
  await signIn(browser);
  const form_token = formToken(it.core.secrets, (await sessionOf(browser)) ?? { sessionId: '' });
  const answer = await browser.post(`${it.url}/auth/start/other`, { form_token });
  const onward = answer.headers.get('refresh')?.replace('0; url=', '') ?? '';
  const callback = await browser.walk(onward, `${it.url}/auth/callback/`);
  browser.set(it.url, 'qm_session=; max-age=0');
  expect((await browser.get(callback.href)).headers.get('location')).toContain('/auth?again=1');
  expect(await findByIdentity(it.core.db, { issuer: other.issuer, subject: `other-${last}` })).toBeNull();
});

test('two who link each other at the same time are one person with one account in the end', async () => {
  const [browser, second] = [walker(), walker()];
  await signIn(browser);
  await signIn(second, 'other');
  const both = await Promise.all([linkAndAgree(browser, 'other'), linkAndAgree(second, 'corp')]);
  expect(both.filter(({ status }) => status >= 500)).toEqual([]);
  const persons = await Promise.all([
    findByIdentity(it.core.db, { issuer: corp.issuer, subject: ada.sub }),
    findByIdentity(it.core.db, { issuer: other.issuer, subject: `other-${last}` }),
  ]);
  const [one, two] = persons.map((person) => person?.personId);
  expect(one).toBe(two);
  const accounts = await membershipsOf(it.core.db, one ?? '');
  expect(accounts.map(({ role }) => role)).toEqual(['owner']);
  expect(await balanceOf(it.core.db, accounts[0]?.accountId ?? '')).toMatchObject({ balance_usd: 2 });
});
