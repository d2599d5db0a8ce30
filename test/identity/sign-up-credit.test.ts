// Sign-up credit is given once: to an identity, to a mailbox, and to three of a network a day, whoever comes at once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { balanceOf } from '../../src/core/wallet/ledger/read.ts';
import { type Applicant, giveSignUpCredit } from '../../src/people/sign-in/sign-up-credit.ts';
import { startTestService, type TestService } from '../support/service.ts';

let it: TestService;
beforeAll(async () => {
  // own service: moves its clock
  it = await startTestService();
});
afterAll(() => it.stop());

const CREDIT = 2_000_000_000n;
let last = 0;

/** A new person; `known` is what is not new of them. */
function applicant(known: Partial<Applicant> = {}): Applicant {
  last += 1;
  const email = `u${last}@example.org`;
  return {
    issuer: 'https://id.example',
    subject: `u-${last}`,
    verifiedEmail: email,
    remoteAddress: '127.0.0.1',
    ...known,
  };
}

async function signUp(known: Partial<Applicant> = {}, nanos = CREDIT) {
  return it.core.db.transaction(async (tx) => {
    const accountId = await createAccount(tx, { by: 'provider' });
    return { accountId, withheld: await giveSignUpCredit(tx, it.core.secrets, accountId, applicant(known), nanos) };
  });
}

async function trialOf(accountId: string) {
  return (await balanceOf(it.core.db, accountId)).trial;
}

test('the first sign-in brings it for 90 days', async () => {
  const { accountId } = await signUp();
  const { expires_at: end, ...trial } = await trialOf(accountId);
  expect(trial).toEqual({ active: true, granted_usd: 2, remaining_usd: 2, withheld_reason: null });
  expect((Date.parse(end ?? '') - Date.now()) / 86_400_000).toBeCloseTo(90, 2);
});

test.each<[string, Partial<Applicant>]>([
  ['no_verified_email', { verifiedEmail: null }],
  ['identity_used', { subject: 'twice' }],
  ['email_used', { verifiedEmail: 'o.c.t.o+x@GoogleMail.com' }],
])('%s: none is given, and the balance says why', async (reason, known) => {
  await signUp({ subject: 'twice' });
  await signUp({ verifiedEmail: 'octo@gmail.com' });
  const { accountId, withheld } = await signUp(known);
  expect(withheld).toBe(reason);
  expect(await trialOf(accountId)).toMatchObject({ active: false, granted_usd: 0, withheld_reason: reason });
});

test('three a day for a network, on this machine as many as come', async () => {
  for (const [first, next, other] of [
    ['198.51.100.1', '198.51.100.200', '198.51.101.1'],
    ['2001:db8:5:1::1', '2001:db8:5:2::9', '2001:db8:6::1'],
  ]) {
    for (const at of [first, next, first])
      expect(await signUp({ remoteAddress: at })).toMatchObject({ withheld: null });
    expect(await signUp({ remoteAddress: next })).toMatchObject({ withheld: 'network_limit' });
    expect(await signUp({ remoteAddress: other })).toMatchObject({ withheld: null });
  }
  for (let i = 0; i < 5; i += 1) expect(await signUp()).toMatchObject({ withheld: null });
  await it.advance(86_400);
  expect(await signUp({ remoteAddress: '198.51.100.7' })).toMatchObject({ withheld: null });
});

test('who was refused for the network may still come another day', async () => {
  const late = { subject: 'late', verifiedEmail: 'late@example.org', remoteAddress: '203.0.113.1' };
  for (let i = 0; i < 3; i += 1) await signUp({ remoteAddress: '203.0.113.9' });
  const { accountId, withheld } = await signUp(late);
  expect(withheld).toBe('network_limit');
  await it.advance(86_400);
  const again = it.core.db.transaction((tx) =>
    giveSignUpCredit(tx, it.core.secrets, accountId, applicant(late), CREDIT),
  );
  expect(await again).toBeNull();
  expect(await trialOf(accountId)).toMatchObject({ active: true, withheld_reason: null });
});

test('of many who come at once with one identity, or one mailbox, one is given it', async () => {
  for (const known of [{ subject: 'race' }, { verifiedEmail: 'race@example.org' }]) {
    const all = await Promise.all(Array.from({ length: 8 }, () => signUp(known)));
    expect(all.filter(({ withheld }) => withheld === null)).toHaveLength(1);
  }
  const many = await Promise.all(Array.from({ length: 8 }, () => signUp({ remoteAddress: '192.0.2.1' })));
  expect(many.filter(({ withheld }) => withheld === null)).toHaveLength(3);
});

test('what was given once is not given again after the account is gone; nothing tells whose it was', async () => {
  const known = { subject: 'gone', verifiedEmail: 'gone@example.org' };
  const { accountId } = await signUp(known);
  const claims = { name: 'test_claims', text: 'SELECT c::text AS row FROM core.sign_up_claim c WHERE account_id = $1' };
  const rows = (await it.core.db.query<{ row: string }>(claims, [accountId])).rows.map(({ row }) => row);
  expect(rows).toHaveLength(2);
  expect(rows.join()).not.toMatch(/gone|example/);
  const forget = { name: 'test_forget', text: 'UPDATE core.sign_up_claim SET account_id = NULL WHERE account_id = $1' };
  await it.core.db.query(forget, [accountId]);
  expect(await signUp({ subject: 'gone' })).toMatchObject({ withheld: 'identity_used' });
  expect(await signUp({ verifiedEmail: 'Gone+2@example.org' })).toMatchObject({ withheld: 'email_used' });
});

test('an account of an e-mail address has none, and is given it with its first identity, once', async () => {
  const accountId = await it.core.db.transaction((tx) => createAccount(tx, { email: 'mail@example.org' }));
  expect(await trialOf(accountId)).toMatchObject({ granted_usd: 0, withheld_reason: 'email_sign_up' });
  for (let i = 0; i < 2; i += 1) {
    const person = applicant();
    await it.core.db.transaction((tx) => giveSignUpCredit(tx, it.core.secrets, accountId, person, CREDIT));
  }
  expect(await trialOf(accountId)).toMatchObject({ granted_usd: 2, withheld_reason: null });
});

test('a service that gives none says nothing', async () => {
  const { accountId } = await signUp({}, 0n);
  expect(await trialOf(accountId)).toMatchObject({ granted_usd: 0, withheld_reason: null });
});
