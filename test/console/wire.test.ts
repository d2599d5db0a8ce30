// Routes that a page's script calls as its visitor: a session's cookie opens them only together with its form token, from a page of the service.
import { beforeAll, expect, test } from 'vitest';
import { signedIn } from '../support/console.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, type TestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const PATH = '/console/wire/v1/chat/completions';
const body = JSON.stringify({
  model: 'sandbox/echo-1',
  messages: [{ role: 'user', content: 'hello' }],
  stream: true,
  stream_options: { include_usage: true },
});

let service: SharedService;
let account: TestAccount;
let visitor: PageVisitor;
let own: Record<string, string>;
beforeAll(async () => {
  service = await sharedService();
  account = await createTestAccount(service.core);
  visitor = await signedIn(service.url, account.secret);
  const token = await visitor.formToken('/console/ai');
  own = { 'content-type': 'application/json', origin: service.url, 'x-form-token': token };
});

const balance = async () =>
  (await client(service.url, account.secret)('GET', '/v1/account/balance')).body.data.balance_usd;

test('a chat comes piece by piece, and is charged to the account of the visitor', async () => {
  const before = await balance();
  const { status, headers, text } = await visitor.send('POST', PATH, own, body);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events = text.split('\n\n').filter((frame) => frame.startsWith('data: {'));
  const last = JSON.parse(events.at(-1)?.slice('data: '.length) ?? '');
  expect(events.length).toBeGreaterThan(2);
  expect(last.service_metadata).toMatchObject({ entry_form: 'console' });
  expect(last.service_metadata.cost_usd).toBeGreaterThan(0);
  expect(await balance()).toBeCloseTo(before - last.service_metadata.cost_usd, 9);
});

test.each([
  ['without the form token', { 'x-form-token': '' }],
  ['with the token of another session', { 'x-form-token': 'A'.repeat(43) }],
  ['from another site', { origin: 'https://elsewhere.example' }],
  ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
])('nothing is asked %s', async (_, headers) => {
  const before = await balance();
  const { status } = await visitor.send('POST', PATH, { ...own, ...headers }, body);
  expect(status).toBe(401);
  expect(await balance()).toBe(before);
});

test('a key opens it no more than a cookie alone', async () => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${account.secret}` };
  expect((await fetch(`${service.url}${PATH}`, { method: 'POST', headers, body })).status).toBe(401);
});

test('a session whose key may only read is refused', async () => {
  const call = client(service.url, account.secret);
  const made = await call('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['ai:read'] });
  const reader = await signedIn(service.url, made.body.data.key_secret);
  const token = await reader.formToken('/console/ai/models');
  expect((await reader.send('POST', PATH, { ...own, 'x-form-token': token }, body)).status).toBe(403);
});
