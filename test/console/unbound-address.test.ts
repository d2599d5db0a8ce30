// Paying asks for a verified address: whoever has none is told so in place of buttons that could only be refused, the operator included.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { mailedCode, startTestService, type TestService } from '../support/service.ts';

const PAYING = ['topup', 'attach', 'recharge', 'upgrade'];

let service: TestService;
beforeAll(async () => {
  // own service: reads the mails of all
  service = await startTestService();
});
afterAll(() => service?.stop());

async function operator(): Promise<PageVisitor> {
  const { db } = service.core;
  const link = await db.transaction(async (tx) => createOperatorLink(tx, await clockNow(tx)));
  const visitor = new PageVisitor(service.url);
  await visitor.post(`/auth/operator/${link}`, {});
  return visitor;
}

async function keyHolder(): Promise<PageVisitor> {
  const { db, secrets } = service.core;
  const { secret } = await db.transaction(async (tx) => {
    const accountId = await createAccount(tx, { name: 'without an address' });
    const nowMs = (await lockAccount(tx, accountId)) as number;
    return createKey(tx, secrets, accountId, { name: null, scopes: null, expiresAtMs: null, cap: null }, nowMs);
  });
  return signedIn(service.url, secret);
}

test.each([
  ['the operator', operator, true],
  ['the holder of a key', keyHolder, false],
])('%s is led to bind an address first, and pays after that', async (_, signIn, mayVouch) => {
  const visitor = await signIn();
  const offered = async () => {
    const pages = await Promise.all(['wallet', 'account'].map((page) => visitor.get(`/console/${page}`)));
    const text = pages.map((page) => page.text).join('');
    return { text, acts: PAYING.filter((act) => text.includes(`name="act" value="${act}"`)) };
  };
  const before = await offered();
  expect(before.acts).toEqual([]);
  expect(before.text.match(/<a href="\/console\/account">Add an email address/g)).toHaveLength(2);
  expect(before.text.includes('qm accounts update')).toBe(mayVouch);
  const email = `${mayVouch ? 'operator' : 'holder'}@example.org`;
  expect((await sendForm(visitor, '/console/account', 'bind', { email })).status).toBe(303);
  const code = await mailedCode(email);
  expect((await sendForm(visitor, '/console/account', 'verify', { code })).status).toBe(303);
  const after = await offered();
  expect(after.acts).toEqual(PAYING);
  expect(after.text).not.toContain('Add an email address</a>');
  const topup = await sendForm(visitor, '/console/wallet', 'topup', { amount_usd: '10' });
  expect([topup.status, topup.text.includes('Continue to the payment page')]).toEqual([200, true]);
});

test('the account page sells tiers, and no label beside them', async () => {
  const visitor = await keyHolder();
  const email = 'tiers@example.org';
  await sendForm(visitor, '/console/account', 'bind', { email });
  await sendForm(visitor, '/console/account', 'verify', { code: await mailedCode(email) });
  const { text } = await visitor.get('/console/account');
  expect([...text.matchAll(/name="target" value="(\w+)"/g)].map(([, target]) => target)).toEqual(['pro', 'enterprise']);
});
