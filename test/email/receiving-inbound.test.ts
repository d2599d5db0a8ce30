// Mail that a mail server pipes to email.inbound.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestOperator } from '../support/service.ts';
import { type InboxOwner, mailText, type ReceivingBench, startReceivingBench } from './receiving-harness.ts';

let bench: ReceivingBench;
let ada: InboxOwner;
let inboxId: string;

beforeAll(async () => {
  bench = await startReceivingBench();
  ada = await bench.owner();
  inboxId = await ada.inbox('ada@near.test');
});
afterAll(() => bench.stop());

const mail = mailText({ From: 'bob@far.test', To: 'ada@near.test', Subject: 'Piped', 'Message-ID': '<p@far.test>' });
const query = 'from=bob@far.test&to=ada@near.test';
const pipe = (owner: Pick<InboxOwner, 'call'>, text: string, of = query, type = 'message/rfc822') =>
  owner.call('POST', `/v1/email/inbound?${of}`, Buffer.from(text), { 'content-type': type });

test('a mail is piped as it is, its envelope in the query, and lies in the inbox', async () => {
  const { status, body } = await pipe(ada, mail);
  expect([status, body.data]).toMatchObject([200, { to: 'ada@near.test', kind: 'mail', email_id: null }]);
  expect(body.metadata).toMatchObject({ cost_usd: 0 });
  const { items } = await ada.data('GET', `/v1/email/inbox/messages/${inboxId}`);
  expect(items).toMatchObject([{ inbound_id: body.data.inbound_id, subject: 'Piped', text: 'Hello\n' }]);
  expect((await pipe(ada, mail)).body.data.inbound_id).toBe(body.data.inbound_id);
});

test('a mail of 10 MiB is taken, a longer one is not', async () => {
  const padded = (bytes: number) => mail + 'x'.repeat(bytes - mail.length);
  expect((await pipe(ada, padded(10 * 1024 * 1024))).status).toBe(200);
  expect((await pipe(ada, padded(10 * 1024 * 1024 + 1))).status).toBe(413);
});

test.each([
  ['without recipients', 'from=bob@far.test', 400],
  ['for a stranger', 'to=eve@near.test', 404],
  ['for somebody elsewhere', 'to=victim@elsewhere.test', 404],
  ['with one stranger among its recipients', 'to=ada@near.test&to=eve@near.test', 404],
  ['with 51 recipients', Array(51).fill('to=ada@near.test').join('&'), 400],
])('a mail %s is refused, and nothing is kept', async (_name, of, status) => {
  const before = await ada.data('GET', `/v1/email/inbox/get/${inboxId}`);
  expect((await pipe(ada, `X: ${of}\r\n${mail}`, of)).status).toBe(status);
  expect(await ada.data('GET', `/v1/email/inbox/get/${inboxId}`)).toEqual(before);
});

test('another type of body is refused', async () => {
  expect((await pipe(ada, mail, query, 'text/plain')).status).toBe(400);
});

test('a key takes mail for its own inboxes alone, the one of the operator for all', async () => {
  const eve = await bench.owner();
  expect((await pipe(eve, mail)).status).toBe(404);
  const operator = await createTestOperator(bench.test.core);
  const call = client(bench.test.url, operator.secret);
  expect((await pipe({ call }, mail)).body.data).toMatchObject({ kind: 'mail' });
});

test('without a key, and with one that may only read, nothing is taken', async () => {
  expect((await pipe({ call: client(bench.test.url) }, mail)).status).toBe(401);
  const { secret } = await ada.data('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['email:read'] });
  expect((await pipe({ call: client(bench.test.url, secret) }, mail)).status).toBe(403);
});

test.each(['content_base64', 'message'])('what is no base64 is refused by the form for JSON, as %s', async (name) => {
  const reply = await ada.call('POST', '/v1/email/inbound/encoded', { [name]: '!!', to: ['ada@near.test'] });
  expect([reply.status, reply.body.error.param]).toEqual([400, 'content_base64']);
});
