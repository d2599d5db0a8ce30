// An account goes over into another of the same person when they have seen what that means: both accounts, and every key that could spend the
// credit afterwards.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { createKey, rotateKey } from '../../src/core/keys/changes.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { createPerson, findByIdentity, membershipsOf } from '../../src/people/persons.ts';
import { formToken } from '../../src/people/sessions/sessions.ts';
import { walker } from '../support/identity/browser-walk.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { IdentityBench } from './harness.ts';

let bench: IdentityBench;
beforeAll(async () => {
  bench = await IdentityBench.open();
});
afterAll(() => bench?.stop());
beforeEach(() => bench.newPeople());

/** Two accounts of one human, with credit in the one that would go over. */
async function two() {
  const [browser, second] = [walker(), walker()];
  await bench.signIn(browser);
  await bench.signIn(second, 'other');
  const [into, from] = [await bench.accountOf(browser), await bench.accountOf(second)];
  const credit = { kind: 'paid', amountNanos: 7_000_000_000n, expiresInMs: null, note: null } as const;
  await bench.it.core.db.transaction((tx) => grantCredit(tx, from, credit));
  return { browser, second, into, from };
}

test('nothing goes over before the person has seen both accounts and every key that could spend it', async () => {
  const { browser, into, from } = await two();
  await bench.addKey(into, 'kept by a stranger');
  await bench.addKey(from, 'comes along');
  const asked = await bench.link(browser, 'other');
  const page = await asked.text();
  expect(asked.status).toBe(200);
  for (const text of [into, from, 'kept by a stranger', 'comes along', 'Merge the accounts'])
    expect(page).toContain(text);
  expect([await bench.balance(into), await bench.balance(from)]).toEqual([2, 9]);
  const person = await findByIdentity(bench.it.core.db, { issuer: bench.other.issuer, subject: `other-${bench.last}` });
  expect(person?.personId).not.toBe((await bench.sessionOf(browser))?.personId);
  expect((await bench.agree(browser, page)).status).toBe(303);
  expect([await bench.balance(into), await bench.balance(from)]).toEqual([9, 0]);
});

test('a key that appears after the question, or while it is answered, is asked about again', async () => {
  const { browser, into, from } = await two();
  const first = await (await bench.link(browser, 'other')).text();
  await bench.addKey(into, 'planted');
  const again = await bench.agree(browser, first);
  const second = await again.text();
  expect([again.status, second.includes('planted'), await bench.balance(from)]).toEqual([409, true, 9]);
  let answer: Promise<Response> | undefined;
  await bench.it.core.db.transaction(async (tx) => {
    const nowMs = (await lockAccount(tx, into)) as number;
    answer = bench.agree(browser, second);
    await vi.waitFor(async () => expect(await lockWaiters(bench.it.core.db)).toBe(1), {
      timeout: 50_000,
      interval: 10,
    });
    const fields = { name: 'planted late', scopes: null, expiresAtMs: null, cap: null };
    await createKey(tx, bench.it.core.secrets, into, fields, nowMs);
  });
  const third = await (await answer)?.text();
  expect([third?.includes('planted late'), await bench.balance(from)]).toEqual([true, 9]);
  expect((await bench.agree(browser, third ?? '')).status).toBe(303);
  expect([await bench.balance(into), await bench.balance(from)]).toEqual([9, 0]);
});

test('a rotated secret, and a further person, are asked about again; whoever wants keeps both accounts', async () => {
  const { browser, into, from } = await two();
  const { key } = await bench.addKey(into, 'rotated');
  const first = await (await bench.link(browser, 'other')).text();
  const { db, secrets } = bench.it.core;
  await db.transaction((tx) => rotateKey(tx, secrets, into, key.keyId, 0, Date.now()));
  const second = await bench.agree(browser, first);
  expect(second.status).toBe(409);
  const guest = { accountId: into, email: 'guest@example.org', name: null, role: 'owner' } as const;
  await db.transaction((tx) => createPerson(tx, guest, Date.now()));
  const third = await bench.agree(browser, await second.text());
  const page = await third.text();
  expect([third.status, page.includes('guest@example.org')]).toEqual([409, true]);
  expect((await bench.agree(browser, page, 'apart')).status).toBe(303);
  expect([await bench.balance(into), await bench.balance(from)]).toEqual([2, 9]);
  const personId = (await bench.sessionOf(browser))?.personId ?? '';
  expect((await membershipsOf(db, personId)).map(({ accountId }) => accountId).sort()).toEqual([into, from].sort());
});

test('the question is answered by the person who was asked, within ten minutes, on a page of this service', async () => {
  const { browser, second, from } = await two();
  const page = await (await bench.link(browser, 'other')).text();
  const linking = /name="linking" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const session = await bench.sessionOf(second);
  const form_token = session === null ? '' : formToken(bench.it.core.secrets, session);
  const stranger = await second.post(`${bench.it.url}/auth/link`, { form_token, linking, action: 'merge' });
  expect(stranger.status).toBe(400);
  expect((await bench.agree(browser, page.replace(linking, `A${linking.slice(1)}`))).status).toBe(400);
  expect((await browser.post(`${bench.it.url}/auth/link`, { linking, action: 'merge' })).status).toBe(403);
  await bench.it.advance(601);
  expect((await bench.agree(browser, page)).status).toBe(400);
  expect(await bench.balance(from)).toBe(9);
});
