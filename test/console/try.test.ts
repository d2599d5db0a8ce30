// "Try it": a form calls a capability as its visitor, once, with no more rights than the visitor has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTriable } from '../../src/surfaces/documents/docs/triable.ts';
import { capabilities } from '../support/capabilities.ts';
import { sendForm, signedIn } from '../support/console.ts';
import type { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let visitor: PageVisitor;
beforeAll(async () => {
  service = await startTestService();
  account = await createTestAccount(service.core);
  visitor = await signedIn(service.url, account.secret);
});
afterAll(() => service?.stop());

const call = (method: string, path: string, body?: unknown) =>
  client(service.url, account.secret)(method, `/v1/${path}`, body);
const send = (id: string, fields: Record<string, string>, as = visitor) =>
  sendForm(as, `/console/try/${id}`, id, fields);

test('a call is made as the visitor, and its request and answer are shown', async () => {
  await call('POST', 'queue/create', { name: 'tried' });
  const payload = '{"text": "<script>alert(1)</script>"}';
  const { status, text } = await send('queue.publish', { queue: 'tried', payload, priority: '3' });
  expect(status).toBe(200);
  expect(text).toMatch(/<h2>Answer: 200, \d+ ms<\/h2>/);
  expect(text).toContain('/v1/queue/publish');
  expect(text).toContain('&quot;message_id&quot;: &quot;qmsg_');
  expect(text).not.toContain('<script>alert');
  expect((await call('POST', 'queue/consume', { queue: 'tried' })).body.data.items).toMatchObject([
    { payload: JSON.parse(payload), priority: 3 },
  ]);
});

test('the same form sent twice is one call', async () => {
  await call('POST', 'queue/create', { name: 'once' });
  const { text } = await visitor.get('/console/try/queue.publish');
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
  const fields = {
    form_token: hidden('form_token'),
    form_key: hidden('form_key'),
    act: 'queue.publish',
    queue: 'once',
    payload: '{}',
  };
  for (let i = 0; i < 2; i += 1) expect((await visitor.post('/console/try/queue.publish', fields)).status).toBe(200);
  expect((await call('GET', 'queue/stats/once')).body.data.message_count).toBe(1);
});

test.each([
  ['a queue that there is not', { queue: 'none', payload: '{}' }, 404, 'QUEUE_NOT_FOUND'],
  ['JSON that is none', { queue: 'tried', payload: '{' }, 400, 'payload must be valid JSON.'],
  ['a number that is none', { queue: 'tried', payload: '{}', priority: 'high' }, 400, 'VALIDATION_FAILED'],
])('%s is refused, and what was typed stays', async (_name, fields, status, said) => {
  const answered = await send('queue.publish', fields);
  expect(answered.status).toBe(status);
  expect(answered.text).toContain(said);
  expect(answered.text).toContain(`value="${fields.queue}"`);
});

test('what ends something for good asks to be confirmed', async () => {
  await call('POST', 'queue/create', { name: 'gone' });
  const refused = await send('queue.delete', { queue: 'gone' });
  expect([refused.status, refused.text.includes('Confirm that it is to be done.')]).toEqual([400, true]);
  expect((await call('GET', 'queue/get/gone')).status).toBe(200);
  expect((await send('queue.delete', { queue: 'gone', confirmed: 'on' })).status).toBe(200);
  expect((await call('GET', 'queue/get/gone')).status).toBe(404);
});

test('a form of another site, or without its token, does nothing', async () => {
  const fields = { act: 'queue.create', name: 'foreign', form_key: '0'.repeat(32), form_token: 'x' };
  expect((await visitor.post('/console/try/queue.create', fields)).status).toBe(403);
  const token = await visitor.formToken('/console/try/queue.create');
  const foreign = { origin: 'https://example.com' };
  const sent = { ...fields, form_token: token };
  expect((await visitor.post('/console/try/queue.create', sent, foreign)).status).toBe(403);
  expect((await call('GET', 'queue/get/foreign')).status).toBe(404);
});

describe('a narrow key', () => {
  let narrow: PageVisitor;
  beforeAll(async () => {
    const { body } = await call('POST', 'account/keys/create', { scopes: ['queue:read'] });
    narrow = await signedIn(service.url, body.data.key_secret);
  });

  test('sees no form for what it may not call, and cannot send one', async () => {
    const page = await narrow.get('/console/try/queue.publish');
    expect([page.status, page.text.includes('queue:write')]).toEqual([403, true]);
    expect(page.text).not.toContain('value="queue.publish"');
    const token = await narrow.formToken('/console/try/queue.list');
    const fields = { act: 'queue.create', form_key: 'a'.repeat(32), form_token: token, name: 'stolen' };
    expect((await narrow.post('/console/try/queue.list', fields)).status).toBe(403);
    expect((await call('GET', 'queue/get/stolen')).status).toBe(404);
  });

  test('calls what it may', async () => {
    expect((await send('queue.list', { limit: '1' }, narrow)).text).toContain('Answer: 200');
  });
});

test('who is not signed in signs in first, and comes back', async () => {
  const answer = await fetch(`${service.url}/console/try/queue.publish`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    `/auth?return_to=${encodeURIComponent('/console/try/queue.publish')}`,
  ]);
});

test.each(['operator.health', 'ai.batch.create', 'account.keys.aws', 'none', 'constructor', '%2e%2e', '%00'])(
  '%s is not offered',
  async (id) => {
    expect((await visitor.get(`/console/try/${id}`)).status).toBe(404);
  },
);

test.each(capabilities.filter(isTriable).map(({ id }) => id))('%s has a form', async (id) => {
  const { status, text } = await visitor.get(`/console/try/${id}`);
  expect([status, text.includes(`name="act" value="${id}"`)]).toEqual([200, true]);
});
