// What becomes of a mail that a relay is given: for its caller, its recipients and the wallet.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EmailBench, NANOS, SENDER } from './harness.ts';

let bench: EmailBench;
let before: bigint;
beforeAll(async () => {
  bench = await EmailBench.start();
});
beforeEach(async () => {
  bench = await bench.withAccount();
  before = await bench.balance();
  bench.relay?.mails.splice(0);
  bench.relay?.refused.clear();
});
afterAll(() => bench.stop());

const mails = () => bench.relay?.mails ?? [];
const refuse = (address: string, code: number, text: string) => bench.relay?.refused.set(address, { code, text });
const statuses = (email: { recipients: { status: string }[] }) => email.recipients.map(({ status }) => status);

test('a mail is handed to the relay once, signed, and each recipient is charged', async () => {
  const email = await bench.sent({
    to: ['ada@example.net', 'Bob <bob@example.net>'],
    bcc: 'eve@example.net',
    html: '<p>Hello</p>',
  });
  expect(email).toMatchObject({
    status: 'sent',
    vendor: 'smtp',
    captured: false,
    from: SENDER,
    to: ['ada@example.net', 'Bob <bob@example.net>'],
  });
  expect(mails()).toHaveLength(1);
  const [mail] = mails();
  const { to, from, source = '' } = mail ?? {};
  expect([from, to]).toEqual(['agent@sender.example.org', ['ada@example.net', 'bob@example.net', 'eve@example.net']]);
  expect(source).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed; d=sender\.example\.org;/);
  expect(source).toContain(`Message-ID: ${email.message_id}`);
  expect(source).not.toContain('eve@');
  expect(before - (await bench.balance())).toBe(3n * NANOS);
  expect((await bench.events()).map(({ type }) => type)).toEqual(['email.queued', 'email.sent']);
  expect(await bench.get(email.email_id)).toMatchObject(email);
});

test('who is refused for good bounces and costs nothing; the others are charged', async () => {
  refuse('gone@example.net', 550, '5.1.1 No such user');
  const email = await bench.sent({ to: ['ada@example.net', 'gone@example.net'] });
  expect(email.status).toBe('bounced');
  expect(email.recipients[1]).toMatchObject({ status: 'bounced', code: '5.1.1', detail: '550 5.1.1 No such user' });
  expect(before - (await bench.balance())).toBe(NANOS);
  const events = await bench.events();
  expect(events.map(({ type }) => type)).toEqual([
    'email.queued',
    'email.sent',
    'email.bounced',
    'email.auto_suppressed',
  ]);
  expect(events[3].data).toMatchObject({ address: 'gone@example.net', reason: 'bounce' });
  const again = await bench.send({ to: 'gone@example.net' });
  expect([again.status, again.body.error.code]).toEqual([409, 'RECIPIENT_SUPPRESSED']);
});

test('refused for everybody: 502 that is not worth a repeat, and nothing is charged', async () => {
  refuse('ada@example.net', 554, '5.7.1 We do not like you');
  const { status, body } = await bench.send();
  expect(status).toBe(502);
  expect(body.error).toMatchObject({
    code: 'EMAIL_SEND_FAILED',
    code_detail: '554 5.7.1 We do not like you',
    retryable: false,
  });
  expect(await bench.balance()).toBe(before);
});

test('who is to be tried again stays deferred, held, and is sent in time', async () => {
  refuse('busy@example.net', 450, '4.2.2 Mailbox full');
  const email = await bench.sent({ to: ['busy@example.net', 'ada@example.net'] });
  expect([email.status, statuses(email)]).toEqual(['deferred', ['deferred', 'sent']]);
  expect(before - (await bench.balance())).toBe(2n * NANOS);
  bench.relay?.refused.clear();
  await bench.service.advance(61);
  await expect.poll(async () => (await bench.get(email.email_id)).status).toBe('sent');
  expect(mails().map(({ to }) => to)).toEqual([['ada@example.net'], ['busy@example.net']]);
  expect(before - (await bench.balance())).toBe(2n * NANOS);
});

test('deferred seven times it is tried for 25 hours, then it has failed and is given back', async () => {
  refuse('busy@example.net', 450, '4.2.2 Mailbox full');
  const email = await bench.sent({ to: 'busy@example.net' });
  for (const minutes of [1, 5, 15, 60, 240, 480, 720]) {
    const { changed_at: changed } = (await bench.get(email.email_id)).recipients[0];
    await bench.service.advance(60 * minutes + 1);
    await expect.poll(async () => (await bench.get(email.email_id)).recipients[0].changed_at).not.toBe(changed);
  }
  expect((await bench.get(email.email_id)).status).toBe('failed');
  expect(await bench.balance()).toBe(before);
  expect((await bench.events()).at(-1).type).toBe('email.bounced');
});

test('a connection that ends after the mail was handed over: charged, indeterminate, and never sent again by itself', async () => {
  bench.fail('cut');
  const headers = { 'idempotency-key': 'once' };
  const { status, body } = await bench.send({}, headers);
  expect([status, body.error.code]).toEqual([504, 'VENDOR_TIMEOUT']);
  expect(before - (await bench.balance())).toBe(NANOS);
  const again = await bench.send({}, headers);
  expect([again.status, again.body.error.code]).toEqual([409, 'IDEMPOTENCY_INDETERMINATE']);
  await bench.service.advance(3_600);
  expect(mails()).toEqual([]);
  const { body: list } = await bench.call('GET', '/v1/email/list?status=indeterminate');
  expect(list.data.items).toHaveLength(1);
});

test('the same idempotency key sends one mail and answers the same', async () => {
  const headers = { 'idempotency-key': 'same' };
  const [one, two] = [await bench.sent({}, headers), await bench.sent({}, headers)];
  expect(two).toEqual(one);
  expect(mails()).toHaveLength(1);
});

test('in the background: accepted at once, then sent', async () => {
  const email = await bench.sent({ wait: false });
  expect(email.status).toBe('queued');
  await expect.poll(async () => (await bench.get(email.email_id)).status).toBe('sent');
  expect(mails()).toHaveLength(1);
});

test('a mail for later is sent then, and can be cancelled before', async () => {
  // Other tests have moved the clock of the service.
  const nowMs = Date.parse((await bench.sent({ subject: 'now' })).created_at);
  before = await bench.balance();
  const at = new Date(nowMs + 3_600_000).toISOString();
  mails().splice(0);
  const [kept, stopped] = [
    await bench.sent({ send_at: at, subject: 'kept' }),
    await bench.sent({ send_at: at, subject: 'stopped' }),
  ];
  expect([kept.status, stopped.status]).toEqual(['scheduled', 'scheduled']);
  const cancel = () => bench.call('POST', `/v1/email/cancel/${stopped.email_id}`);
  expect((await cancel()).body).toMatchObject({ data: { status: 'cancelled' } });
  expect((await cancel()).body).toMatchObject({ data: { status: 'cancelled' } });
  await bench.service.advance(7_200);
  await expect.poll(async () => (await bench.get(kept.email_id)).status).toBe('sent');
  expect(mails()).toHaveLength(1);
  expect(before - (await bench.balance())).toBe(NANOS);
  const late = await bench.call('POST', `/v1/email/cancel/${kept.email_id}`);
  expect([late.status, late.body.error.code]).toEqual([409, 'STATE_CONFLICT']);
});

test('a batch is accepted whole, sent, and charged for those who were taken', async () => {
  refuse('gone@example.net', 550, '5.1.1 No such user');
  const mail = (to: string) => ({ from: SENDER, to, subject: 'News', text: 'Hello.' });
  const items = ['ada@example.net', 'gone@example.net', 'bob@example.net'].map(mail);
  const { status, body, text } = await bench.call('POST', '/v1/email/batch/send', { items });
  expect(status, text).toBe(200);
  expect(body.data.items.map((one: { status: string }) => one.status)).toEqual(['sent', 'bounced', 'sent']);
  await expect.poll(async () => before - (await bench.balance())).toBe(2n * NANOS);
  // `emails` is what `items` was called before.
  const unproved = await bench.call('POST', '/v1/email/batch/send', {
    emails: [...items, { ...mail('eve@example.net'), from: 'a@nowhere.org' }],
  });
  expect([unproved.status, unproved.body.error.param]).toEqual([403, 'from']);
  await bench.expectBooksAgree();
});

test('a domain that nobody has proved sends nothing', async () => {
  const { status, body } = await bench.send({ from: 'ceo@bank.org' });
  expect([status, body.error]).toMatchObject([403, { code: 'DOMAIN_NOT_VERIFIED', param: 'from' }]);
  expect(mails()).toEqual([]);
});

test('without money nothing is sent', async () => {
  const poor = await bench.withAccount(0.0005);
  expect((await poor.send({ to: ['ada@example.net', 'bob@example.net'] })).status).toBe(402);
  expect((await poor.send()).status).toBe(200);
});

test('the books agree after all of it', () => bench.expectBooksAgree());
