// Resend's own client, unchanged: its e-mails, sent through a relay.
import { Resend } from 'resend';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EmailBench, NANOS, SENDER } from './harness.ts';

let bench: EmailBench;
let resend: Resend;
const clientOf = (secret: string) => new Resend(secret, { baseUrl: `${bench.service.url}/v1/email/resend` });

beforeAll(async () => {
  bench = await EmailBench.start();
  resend = clientOf(bench.account.secret);
});
afterAll(() => bench.stop());

const mail = { from: SENDER, to: 'ada@example.net', subject: 'Hello', text: 'Hi.' };
const sent = async (fields: object = {}) => {
  const { data, error } = await resend.emails.send({ ...mail, ...fields });
  expect(error).toBeNull();
  return data?.id ?? '';
};
const lastEvent = async (id: string) => (await resend.emails.get(id)).data?.last_event;

test('a mail with all fields arrives at the relay, and is shown with them', async () => {
  const id = await sent({
    to: ['ada@example.net', 'Bob <bob@example.net>'],
    cc: 'carol@example.net',
    bcc: ['dave@example.net'],
    subject: 'Invoice 7',
    html: '<p>Paid.</p>',
    replyTo: 'answers@example.net',
    headers: { 'X-Order': '17' },
    tags: [{ name: 'order', value: '17' }],
    attachments: [{ filename: 'a.txt', content: Buffer.from('hello'), contentType: 'text/plain' }],
  });
  await expect.poll(() => lastEvent(id)).toBe('sent');
  expect((await resend.emails.get(id)).data).toMatchObject({
    object: 'email',
    id,
    from: SENDER,
    subject: 'Invoice 7',
    text: 'Hi.',
    html: '<p>Paid.</p>',
    to: ['ada@example.net', 'Bob <bob@example.net>'],
    cc: ['carol@example.net'],
    bcc: ['dave@example.net'],
    reply_to: ['answers@example.net'],
    tags: [{ name: 'order', value: '17' }],
    scheduled_at: null,
  });
  const source = bench.relay?.mails.at(-1)?.source ?? '';
  expect(source).toMatch(/^X-Order: 17\r$/m);
  expect(source).toContain('aGVsbG8=');
  expect(source).not.toContain('dave@example.net');
});

test('a repeat with the key of a mail is that mail, charged once; another mail under it is refused', async () => {
  const before = await bench.balance();
  const options = { idempotencyKey: 'welcome/17' };
  const [one, two] = [await resend.emails.send(mail, options), await resend.emails.send(mail, options)];
  expect(two.data?.id).toBe(one.data?.id);
  await expect.poll(() => lastEvent(one.data?.id ?? '')).toBe('sent');
  expect(before - (await bench.balance())).toBe(NANOS);
  const other = await resend.emails.send({ ...mail, subject: 'Other' }, options);
  expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
});

test('a batch is accepted as a whole, or names its fault', async () => {
  const { data } = await resend.batch.send([mail, { ...mail, to: 'bob@example.net' }]);
  expect(data?.data).toHaveLength(2);
  for (const { id } of data?.data ?? []) await expect.poll(() => lastEvent(id)).toBe('sent');
  const { error } = await resend.batch.send([mail, { ...mail, from: 'nobody' }]);
  expect(error).toMatchObject({ statusCode: 422, name: 'invalid_from_address' });
  expect(error?.message).toContain('items[1].from');
});

test('a scheduled mail is cancelled, and once sent it is not', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const id = await sent({ scheduledAt: at });
  expect((await resend.emails.get(id)).data).toMatchObject({ last_event: 'scheduled', scheduled_at: at });
  expect((await resend.emails.cancel(id)).data).toEqual({ object: 'email', id });
  expect(await lastEvent(id)).toBe('canceled');
  const gone = await sent();
  await expect.poll(() => lastEvent(gone)).toBe('sent');
  expect((await resend.emails.cancel(gone)).error).toMatchObject({ statusCode: 422, name: 'validation_error' });
});

test('what the receiving server refuses is bounced', async () => {
  bench.relay?.refused.set('gone@example.net', { code: 550, text: '5.1.1 no such user' });
  const id = await sent({ to: 'gone@example.net' });
  await expect.poll(() => lastEvent(id)).toBe('bounced');
});

test.each([
  [{ from: 'a@unverified.example.info' }, 403, 'validation_error'],
  [{ from: 'nobody' }, 422, 'invalid_from_address'],
  [{ subject: undefined }, 422, 'missing_required_field'],
  [{ to: ['no address'] }, 422, 'validation_error'],
  [{ attachments: [{ filename: 'a', content: '***' }] }, 422, 'invalid_attachment'],
  [{ attachments: [{ filename: 'a', path: 'https://example.org/a' }] }, 422, 'invalid_attachment'],
  [{ scheduledAt: 'in 1 min' }, 422, 'validation_error'],
])('%j is refused with %i %s', async (fields, statusCode, name) => {
  const { error } = await resend.emails.send({ ...mail, ...fields } as never);
  expect(error).toMatchObject({ statusCode, name, request_id: expect.any(String) });
});

test('of another account, without a key, without the scope and without credit', async () => {
  const id = await sent();
  const [other, poor] = [await bench.withAccount(), await bench.withAccount(0)];
  expect((await clientOf(other.account.secret).emails.get(id)).error).toMatchObject({
    statusCode: 404,
    name: 'not_found',
  });
  expect((await clientOf(poor.account.secret).emails.send(mail)).error).toMatchObject({
    statusCode: 429,
    name: 'monthly_quota_exceeded',
  });
  expect((await bench.call('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['email:read'] })).status).toBe(
    200,
  );
  const { body } = await bench.call('POST', '/v1/account/keys/create', { name: 'queues', scopes: ['queue'] });
  expect((await clientOf(body.data.key_secret).emails.send(mail)).error).toMatchObject({
    statusCode: 401,
    name: 'restricted_api_key',
  });
  const answer = await fetch(`${bench.service.url}/v1/email/resend/emails`, { method: 'POST', body: '{}' });
  expect([answer.status, ((await answer.json()) as { name: string }).name]).toEqual([401, 'missing_api_key']);
});

test('the client finds the service by RESEND_BASE_URL', async () => {
  vi.stubEnv('RESEND_BASE_URL', `${bench.service.url}/v1/email/resend`);
  const { data } = await new Resend(bench.account.secret).emails.send(mail);
  vi.unstubAllEnvs();
  expect(data?.id).toMatch(/^eml_/);
});
