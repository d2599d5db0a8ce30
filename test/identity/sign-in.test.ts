// Signing in by identity providers, from the first link to the session, and linking a second identity: over HTTP, with real providers.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAccount, findAccount } from '../../src/core/accounts/accounts.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { balanceOf } from '../../src/core/wallet/ledger/read.ts';
import { createPerson, findByIdentity, membershipsOf, setMember } from '../../src/people/persons.ts';
import type { Role } from '../../src/people/roles.ts';
import { formToken, openSession } from '../../src/people/sessions/sessions.ts';
import { personOf } from '../../src/people/sign-in/by-provider.ts';
import { walker } from '../support/identity/browser-walk.ts';
import { client } from '../support/service.ts';
import { IdentityBench } from './harness.ts';

let bench: IdentityBench;
beforeAll(async () => {
  bench = await IdentityBench.open();
});
afterAll(() => bench?.stop());
beforeEach(() => bench.newPeople());

test('the first sign-in makes a person with an account and its credit, the next one finds them', async () => {
  const browser = walker();
  const answer = await bench.signIn(browser, 'corp', '/auth/account?tab=keys');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/auth/account?tab=keys']);
  const accountId = await bench.accountOf(browser);
  expect(accountId).toMatch(/^acct_anon_/);
  expect(await bench.trialOf(accountId)).toMatchObject({ granted_usd: 2, withheld_reason: null });
  const again = walker();
  await bench.signIn(again);
  expect(await bench.accountOf(again)).toBe(accountId);
  expect(await bench.sessionOf(again)).not.toMatchObject({ sessionId: (await bench.sessionOf(browser))?.sessionId });
});

test('of several that come at once with a new identity one makes the person', async () => {
  const browsers = Array.from({ length: 6 }, walker);
  const callbacks = await Promise.all(browsers.map((browser) => bench.away(browser)));
  await Promise.all(browsers.map((browser, i) => browser.get(callbacks[i]?.href ?? '')));
  const accounts = new Set(await Promise.all(browsers.map((each) => bench.accountOf(each))));
  expect(accounts.size).toBe(1);
  expect(await bench.trialOf([...accounts][0] ?? '')).toMatchObject({ granted_usd: 2 });
});

test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)', ''])(
  'nobody is sent on to %j',
  async (returnTo) => {
    const answer = await bench.signIn(walker(), 'corp', returnTo);
    expect(answer.headers.get('location')).toBe('/auth/account');
  },
);

test('a callback signs in only the browser that was sent away, once, and only at its provider', async () => {
  const [browser, stranger] = [walker(), walker()];
  const callback = await bench.away(browser);
  expect((await stranger.get(callback.href)).status).toBe(400);
  const elsewhere = callback.href.replace('/callback/corp', '/callback/other');
  expect((await browser.get(elsewhere)).status).toBe(400);
  expect([await bench.sessionOf(stranger), await bench.sessionOf(browser)]).toEqual([null, null]);
  const begun = browser.cookies(bench.it.url);
  const mine = await bench.signIn(browser);
  expect(mine.status).toBe(303);
  // The code is used: with the cookie of before too.
  for (const pair of begun.split('; ')) stranger.set(bench.it.url, pair);
  expect((await stranger.get(callback.href)).status).toBe(400);
});

test('an attempt is over after ten minutes, and what is garbled begins nothing', async () => {
  const browser = walker();
  const callback = await bench.away(browser);
  await bench.it.advance(601);
  expect((await browser.get(callback.href)).status).toBe(400);
  browser.set(bench.it.url, `qm_identity=${'A'.repeat(400)}`);
  expect((await browser.get(callback.href)).status).toBe(400);
  expect((await browser.get(`${bench.it.url}/auth/start/nobody`)).status).toBe(404);
});

test('an equal address makes nobody the same: another provider, another account, no second credit', async () => {
  const [browser, second] = [walker(), walker()];
  await bench.signIn(browser);
  bench.other.person = { ...bench.ada, sub: `other-${bench.last}` };
  await bench.signIn(second, 'other');
  const [one, two] = [await bench.accountOf(browser), await bench.accountOf(second)];
  expect(one).not.toBe(two);
  expect(await bench.trialOf(two)).toMatchObject({ granted_usd: 0, withheld_reason: 'email_used' });
});

test('GitHub signs in too; without a verified address there is no credit', async () => {
  bench.github.user = { id: bench.last, login: 'octocat', emails: [] };
  const browser = walker();
  expect((await bench.signIn(browser, 'github')).status).toBe(303);
  expect(await bench.trialOf(await bench.accountOf(browser))).toMatchObject({ withheld_reason: 'no_verified_email' });
});

test('where nobody may sign up a stranger is told so, and who is known still comes in', async () => {
  const identity = { issuer: 'https://id.example', subject: 'x', verifiedEmail: 'x@Example.org', name: null };
  const arrival = { identity, remoteAddress: '127.0.0.1' };
  const closed = { ...bench.it.core, signUp: { isOpen: false, domains: [] } };
  await expect(personOf(closed, arrival)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED', httpStatus: 403 });
  const elsewhere = { ...bench.it.core, signUp: { isOpen: true, domains: ['corp.example'] } };
  await expect(personOf(elsewhere, arrival)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED' });
  const unverified = { ...arrival, identity: { ...identity, verifiedEmail: null } };
  await expect(personOf(elsewhere, unverified)).rejects.toMatchObject({ code: 'SIGNUP_CLOSED' });
  const here = { ...bench.it.core, signUp: { isOpen: true, domains: ['example.org'] } };
  const person = await personOf(here, arrival);
  expect(await personOf(closed, arrival)).toEqual(person);
});

test('who signed up by mail links a provider: the same account, and its credit now', async () => {
  const { db } = bench.it.core;
  const browser = walker();
  const accountId = await db.transaction(async (tx) => {
    const made = await createAccount(tx, { email: `mail${bench.last}@example.org` });
    const nowMs = Date.now() + 3_600_000;
    const personId = await createPerson(tx, { accountId: made, email: null, name: null, role: 'owner' }, nowMs);
    const device = { remoteAddress: '127.0.0.1', agent: 'x' };
    const token = await openSession(tx, { kind: 'person', personId, accountId: made }, device, nowMs);
    browser.set(bench.it.url, `qm_session=${token}`);
    return made;
  });
  expect(await bench.trialOf(accountId)).toMatchObject({ withheld_reason: 'email_sign_up' });
  expect((await bench.link(browser, 'corp')).headers.get('location')).toBe('/auth/account');
  expect(await bench.trialOf(accountId)).toMatchObject({ granted_usd: 2, withheld_reason: null });
  const later = walker();
  await bench.signIn(later);
  expect(await bench.accountOf(later)).toBe(accountId);
});

test('a verified address of a linked identity is bound to an account that had none, by its owners only', async () => {
  const { core } = bench.it;
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const emailOf = async (accountId: string) => (await findAccount(core.db, accountId))?.email;
  bench.corp.person = { ...bench.ada, email_verified: false };
  bench.other.person = { ...bench.other.person, email_verified: false };
  bench.github.user = {
    id: 1_000 + bench.last,
    login: 'ada',
    emails: [{ email: 'a@example.net', primary: true, verified: true }],
  };
  const browser = walker();
  await bench.signIn(browser);
  const accountId = await bench.accountOf(browser);
  const { secret } = await core.db.transaction((tx) => createKey(tx, core.secrets, accountId, fields, Date.now()));
  const topup = async () => (await client(bench.it.url, secret)('POST', '/v1/account/topup', {})).body;

  await bench.link(browser, 'other');
  expect([await emailOf(accountId), (await topup()).error.code]).toEqual([null, 'EMAIL_BINDING_REQUIRED']);
  const personId = (await bench.sessionOf(browser))?.personId ?? '';
  const become = (role: Role) => core.db.transaction((tx) => setMember(tx, { personId, accountId, role }, Date.now()));
  await become('viewer');
  await bench.link(browser, 'github');
  expect(await emailOf(accountId)).toBeNull();
  await become('owner');
  bench.github.user = { ...bench.github.user, id: 2_000 + bench.last };
  await bench.link(browser, 'github');
  expect([await emailOf(accountId), (await topup()).ok]).toEqual(['a@example.net', true]);
  bench.github.user = {
    id: 3_000 + bench.last,
    login: 'ada',
    emails: [{ email: 'b@example.net', primary: true, verified: true }],
  };
  await bench.link(browser, 'github');
  expect(await emailOf(accountId)).toBe('a@example.net');
});

test('an empty account goes over with its keys, and both identities are one person', async () => {
  const [browser, second] = [walker(), walker()];
  await bench.signIn(browser);
  await bench.signIn(second, 'other');
  const [into, from] = [await bench.accountOf(browser), await bench.accountOf(second)];
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const { secret } = await bench.it.core.db.transaction((tx) =>
    createKey(tx, bench.it.core.secrets, from, fields, Date.now()),
  );
  expect((await bench.linkAndAgree(browser, 'other')).status).toBe(303);
  // The second credit is void.
  expect((await client(bench.it.url, secret)('GET', '/v1/account/balance')).body.data).toMatchObject({
    balance_usd: 2,
  });
  expect(await bench.sessionOf(second)).toBeNull();
  await bench.signIn(second, 'other');
  expect(await bench.accountOf(second)).toBe(into);
  const person = await findByIdentity(bench.it.core.db, { issuer: bench.other.issuer, subject: `other-${bench.last}` });
  expect(await membershipsOf(bench.it.core.db, person?.personId ?? '')).toMatchObject([
    { accountId: into, role: 'owner' },
  ]);
});

test('an account that is in use stays, and the person has both', async () => {
  const [browser, second] = [walker(), walker()];
  await bench.signIn(browser);
  await bench.signIn(second, 'other');
  const [into, from] = [await bench.accountOf(browser), await bench.accountOf(second)];
  const fields = { name: null, scopes: null, expiresAtMs: null, cap: null };
  const { secret } = await bench.it.core.db.transaction((tx) =>
    createKey(tx, bench.it.core.secrets, from, fields, Date.now()),
  );
  const call = client(bench.it.url, secret);
  expect((await call('POST', '/v1/queue/create', { name: 'jobs' })).status).toBe(200);
  expect((await bench.link(browser, 'other')).status).toBe(409);
  expect((await call('GET', '/v1/queue/get/jobs')).status).toBe(200);
  const personId = (await bench.sessionOf(browser))?.personId ?? '';
  const accounts = (await membershipsOf(bench.it.core.db, personId)).map(({ accountId }) => accountId);
  expect(accounts.sort()).toEqual([into, from].sort());
});

test('nothing links but a form of the own session, of the bench.last 15 minutes', async () => {
  const [browser, stranger] = [walker(), walker()];
  await bench.signIn(browser);
  const mine = await bench.accountOf(browser);
  expect((await bench.link(stranger, 'other')).status).toBe(403);
  expect((await bench.link(browser, 'other', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await bench.link(browser, 'other', {}, 'A'.repeat(43))).status).toBe(403);
  // A GET signs in as who comes back.
  await bench.signIn(browser, 'other');
  expect(await bench.accountOf(browser)).not.toBe(mine);
  await bench.it.advance(16 * 60);
  const refused = await bench.link(browser, 'github');
  expect([refused.status, refused.headers.get('location')]).toEqual([303, expect.stringContaining('again=1')]);
});

test('what began with a live session links nothing once that has ended', async () => {
  const browser = walker();
  await bench.signIn(browser);
  const form_token = formToken(bench.it.core.secrets, (await bench.sessionOf(browser)) ?? { sessionId: '' });
  const answer = await browser.post(`${bench.it.url}/auth/start/other`, { form_token });
  const onward = answer.headers.get('refresh')?.replace('0; url=', '') ?? '';
  const callback = await browser.walk(onward, `${bench.it.url}/auth/callback/`);
  browser.set(bench.it.url, 'qm_session=; max-age=0');
  expect((await browser.get(callback.href)).headers.get('location')).toContain('/auth?again=1');
  expect(
    await findByIdentity(bench.it.core.db, { issuer: bench.other.issuer, subject: `other-${bench.last}` }),
  ).toBeNull();
});

test('two who link each other at the same time are one person with one account in the end', async () => {
  const [browser, second] = [walker(), walker()];
  await bench.signIn(browser);
  await bench.signIn(second, 'other');
  const both = await Promise.all([bench.linkAndAgree(browser, 'other'), bench.linkAndAgree(second, 'corp')]);
  expect(both.filter(({ status }) => status >= 500)).toEqual([]);
  const persons = await Promise.all([
    findByIdentity(bench.it.core.db, { issuer: bench.corp.issuer, subject: bench.ada.sub }),
    findByIdentity(bench.it.core.db, { issuer: bench.other.issuer, subject: `other-${bench.last}` }),
  ]);
  const [one, two] = persons.map((person) => person?.personId);
  expect(one).toBe(two);
  const accounts = await membershipsOf(bench.it.core.db, one ?? '');
  expect(accounts.map(({ role }) => role)).toEqual(['owner']);
  expect(await balanceOf(bench.it.core.db, accounts[0]?.accountId ?? '')).toMatchObject({ balance_usd: 2 });
});
