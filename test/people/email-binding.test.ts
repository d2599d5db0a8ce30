// Binding an address to an account: by the code or the link of a mail, once, in time, and not by guessing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMails } from '../../src/people/mail/mail.ts';
import {
  type Client,
  client,
  createTestAccount,
  mailedCode,
  startTestService,
  type TestService,
} from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { RATE_LIMITS: 'off' } });
});
afterAll(() => service?.stop());

let people = 0;
async function unbound() {
  const account = await createTestAccount(service.core, 0);
  const text = 'UPDATE core.account SET email = NULL, email_bound = false WHERE account_id = $1';
  await service.core.db.query({ name: 'test_unbind', text }, [account.accountId]);
  people += 1;
  return { ...account, call: client(service.url, account.secret), email: `payer${people}@example.org` };
}

const bind = async (call: Client, email: string) => (await call('POST', '/v1/account/email/bind', { email })).status;
async function verify(call: Client, code: string) {
  const { status, body } = await call('POST', '/v1/account/email/verify', { code });
  return [status, body.data?.email ?? body.error.code];
}

async function mailedLink(to: string): Promise<string> {
  const mail = (await listMails(service.core.db, { limit: 100 })).find((each) => each.to === to);
  return /https?:\/\/\S+\/auth\/email\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';
}

test('the code of the mail binds the address, once; a topup is possible then', async () => {
  const { call, email } = await unbound();
  expect((await call('POST', '/v1/account/topup', {})).body.error.code).toBe('EMAIL_BINDING_REQUIRED');
  expect(await bind(call, email)).toBe(200);
  const code = await mailedCode(email);
  expect(await verify(call, code)).toEqual([200, 'p•••@example.org']);
  expect(await verify(call, code)).toEqual([400, 'VERIFICATION_FAILED']);
  expect((await call('POST', '/v1/account/topup', {})).status).toBe(200);
});

test('what is no address is refused in words', async () => {
  const { call } = await unbound();
  const { status, body } = await call('POST', '/v1/account/email/bind', { email: 'no address' });
  expect([status, body.error.message, body.error.param]).toEqual([400, 'email must be an e-mail address.', 'email']);
});

describe('a code does not bind', () => {
  test('after five wrong ones, though it is right', async () => {
    const { call, email } = await unbound();
    await bind(call, email);
    const code = await mailedCode(email);
    const wrong = code === '111111' ? '222222' : '111111';
    const tried = await Promise.all(Array.from({ length: 8 }, () => verify(call, wrong)));
    expect(new Set(tried.map(([status]) => status))).toEqual(new Set([400]));
    expect(await verify(call, code)).toEqual([400, 'VERIFICATION_FAILED']);
  });

  test('after 15 minutes, after another was asked for, or for another account', async () => {
    const [one, other] = [await unbound(), await unbound()];
    await bind(one.call, one.email);
    const first = await mailedCode(one.email);
    expect(await verify(other.call, first)).toEqual([400, 'VERIFICATION_FAILED']);
    await bind(one.call, one.email);
    const second = await mailedCode(one.email);
    if (first !== second) expect((await verify(one.call, first))[0]).toBe(400);
    await service.advance(15 * 60);
    expect(await verify(one.call, second)).toEqual([400, 'VERIFICATION_FAILED']);
  });
});

describe('the link', () => {
  test('binds by its button alone: opening it, and looking at it, use nothing up', async () => {
    const { call, email } = await unbound();
    await bind(call, email);
    const link = await mailedLink(email);
    for (const method of ['GET', 'GET', 'HEAD']) await fetch(link, { method });
    expect((await call('GET', '/v1/account/get')).body.data.email_bound).toBe(false);
    const { origin } = new URL(link);
    const press = (headers: Record<string, string>) => fetch(link, { method: 'POST', body: '', headers });
    expect((await press({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await press({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await press({ origin })).status).toBe(200);
    expect((await call('GET', '/v1/account/get')).body.data.email_bound).toBe(true);
    expect((await press({ origin })).status).toBe(400);
  });

  test('with another account or token binds nothing, and its page tells nothing', async () => {
    const [one, other] = [await unbound(), await unbound()];
    await bind(one.call, one.email);
    const link = await mailedLink(one.email);
    const foreign = link.replace(one.accountId, other.accountId);
    const [right, wrong] = await Promise.all([link, foreign].map(async (url) => (await fetch(url)).text()));
    expect(wrong).toBe(right);
    const { origin } = new URL(link);
    for (const url of [foreign, `${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`, `${link}0`])
      expect((await fetch(url, { method: 'POST', body: '', headers: { origin } })).status).toBe(400);
    expect((await one.call('GET', '/v1/account/get')).body.data.email_bound).toBe(false);
  });
});

test('an account, and an address, get five mails an hour', async () => {
  const one = await unbound();
  for (let n = 0; n < 5; n += 1) expect(await bind(one.call, `many${n}@example.org`)).toBe(200);
  const sixth = await one.call('POST', '/v1/account/email/bind', { email: 'many6@example.org' });
  expect([sixth.status, sixth.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  for (let n = 0; n < 5; n += 1) expect(await bind((await unbound()).call, 'same+tag@example.org')).toBe(200);
  expect(await bind((await unbound()).call, 'same@example.org')).toBe(429);
  await service.advance(3_601);
  expect(await bind(one.call, one.email)).toBe(200);
});
