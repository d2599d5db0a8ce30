// Signing secrets: shown once, replayed to whoever repeats the call with its key, and changed without a gap.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver, verified, WebhookCaller } from './api-harness.ts';

const HEADER_SECRET = 'Bearer credential-of-the-receiver';
let service: TestService;
let receiver: Receiver;
let own: WebhookCaller;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService({ env: LOCAL_TARGETS }), Receiver.start()]);
  own = await WebhookCaller.of(service);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const key = (value: string) => ({ 'idempotency-key': value });

describe('a secret', () => {
  test.each<[string, string, string]>([
    ['whsec_ and base64', `whsec_${Buffer.alloc(24, 7).toString('base64')}`, Buffer.alloc(24, 7).toString('base64')],
    ['plain text', 'a plain secret of 30 bytes ...', Buffer.from('a plain secret of 30 bytes ...').toString('base64')],
    [
      'text beyond ASCII',
      'zwölf Boxkämpfer jagen Viktor',
      Buffer.from('zwölf Boxkämpfer jagen Viktor').toString('base64'),
    ],
  ])('as %s is returned as whsec_, once, and signs', async (_what, sent, base64) => {
    const made = await own.register(receiver.url('/given'), { secret: sent });
    expect(made).toMatchObject({ secret: `whsec_${base64}`, secret_last4: base64.slice(-4) });
    expect(await own.get(made.webhook_id)).not.toHaveProperty('secret');
    const { event_id: eventId } = await own.test(made.webhook_id);
    const request = (await receiver.arrived('/given')).find(({ headers }) => headers['webhook-id'] === eventId);
    expect(verified(request as never, made.secret).event_id).toBe(eventId);
  });

  test('that was made is not made twice', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => own.register(receiver.url())));
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(5);
    for (const { webhook_id: id } of made) await own.delete(id);
  });

  test('headers are masked wherever they are shown', async () => {
    const made = await own.register(receiver.url('/masked'), {
      headers: { Authorization: HEADER_SECRET, 'X-Pin': '1234' },
    });
    const delivery = await own.test(made.webhook_id);
    const shown = [
      made,
      await own.get(made.webhook_id),
      await own.update(made.webhook_id, {}),
      delivery,
      await own.deliveries(made.webhook_id),
    ];
    expect(JSON.stringify(shown)).not.toMatch(/credential|1234/);
    expect(made.headers).toEqual({ Authorization: '****er', 'X-Pin': '****' });
    expect(delivery.request_headers).toMatchObject({ Authorization: '****er', 'webhook-signature': 'v1,****' });
  });
});

describe('an idempotency key', () => {
  test('of register answers the same secret for a day, and makes one webhook', async () => {
    const caller = await WebhookCaller.of(service);
    const body = { url: receiver.url(), events: ['queue.dlq'] };
    const register = () => caller.call('POST', '/v1/account/webhooks/register', body, key('k'));
    const first = await register();
    const again = await register();
    expect(again.body.metadata.idempotent_replay).toBe(true);
    expect(again.body.data).toEqual(first.body.data);
    await service.advance(23 * 3600);
    expect((await register()).body.data.secret).toBe(first.body.data.secret);
    expect((await caller.ok('GET', '/v1/account/webhooks/list')).items).toHaveLength(1);
  });

  test('of update answers the same new secret, and the overlap is not cut short', async () => {
    const { webhook_id: id, secret } = await own.register(receiver.url('/repeated'));
    const update = () => own.ok('PATCH', `/v1/account/webhooks/update/${id}`, { secret: null }, key('rotate'));
    const [first, again] = [await update(), await update()];
    expect(again).toEqual(first);
    await own.test(id);
    const [request] = await receiver.arrived('/repeated');
    for (const each of [secret, first.secret]) expect(verified(request as never, each).test).toBe(true);
  });

  test('is judged before the url: a replay does not look names up, and another url is another request', async () => {
    const caller = await WebhookCaller.of(service);
    const register = (url: string) =>
      caller.call('POST', '/v1/account/webhooks/register', { url, events: ['queue.dlq'] }, key('once'));
    const first = await register('https://no-such-host.invalid/');
    expect(first.body.metadata.warnings).toHaveLength(1);
    const again = await register('https://no-such-host.invalid/');
    expect(again.body.metadata).toMatchObject({ idempotent_replay: true });
    expect(again.body.metadata.warnings).toBeUndefined();
    expect((await register('https://10.0.0.1/')).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('of test: ten calls at once make one attempt', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/once'));
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => own.call('POST', `/v1/account/webhooks/test/${id}`, { a: 1 }, key('test'))),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    expect(replies.filter(({ body }) => body.metadata.idempotent_replay)).toHaveLength(9);
    expect(receiver.received.filter(({ path }) => path === '/once')).toHaveLength(1);
  });

  test('of test, in the body, is no part of the event', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/body-key'));
    const first = await own.test(id, { a: 1, idempotency_key: 'in the body' });
    expect(await own.test(id, { a: 1, idempotency_key: 'in the body' })).toEqual(first);
    const requests = await receiver.arrived('/body-key');
    expect(requests.map(({ event }) => event.data)).toEqual([{ object: { a: 1 } }]);
  });

  test('of a test that failed is free again', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/freed'));
    const gone = 'wh_1111111111111111111111';
    const reply = await own.call('POST', `/v1/account/webhooks/test/${gone}`, {}, key('freed'));
    expect(reply.status).toBe(404);
    const next = await own.call('POST', `/v1/account/webhooks/test/${id}`, {}, key('freed'));
    expect([next.status, next.body.metadata.idempotent_replay]).toEqual([200, false]);
  });

  test('whose test died under way is in flight for a minute, then free', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/died'));
    const { db, secrets } = service.core;
    const call = () => own.call('POST', `/v1/account/webhooks/test/${id}`, {}, key('died'));
    expect((await call()).status).toBe(200);
    const text = `UPDATE core.idempotency SET answer = NULL, expires_at = core.clock_now() + interval '1 minute'
                   WHERE account_id = $1 AND key_hash = $2`;
    const hash = secrets.idempotencyHash('account.webhooks.test', 'died');
    expect((await db.query({ name: 'test_die', text }, [own.accountId, hash])).count).toBe(1);
    expect((await call()).body.error.code).toBe('IDEMPOTENCY_IN_FLIGHT');
    await service.advance(61);
    expect((await call()).body.metadata).toMatchObject({ idempotent_replay: false });
  });
});

describe('changing the secret', () => {
  test('both sign for 24 hours, then the new one only', async () => {
    const { webhook_id: id, secret: before } = await own.register(receiver.url('/rotated'));
    const { secret: after, secret_last4: last4 } = await own.update(id, { secret: null });
    expect(after).not.toBe(before);
    expect(last4).toBe(after.slice(-4));
    await own.test(id);
    await service.advance(24 * 3600 - 60);
    await own.test(id);
    await service.advance(120);
    await own.test(id);
    const requests = await receiver.arrived('/rotated', 3);
    expect(requests.map(({ headers }) => String(headers['webhook-signature']).split(' ').length)).toEqual([2, 2, 1]);
    for (const request of requests) expect(verified(request, after).test).toBe(true);
    for (const request of requests.slice(0, 2)) expect(verified(request, before).test).toBe(true);
    expect(() => verified(requests[2] as never, before)).toThrow();
  });

  test('the same secret set again keeps the one before it signing', async () => {
    const { webhook_id: id, secret: before } = await own.register(receiver.url('/same'));
    const secret = 'a plain secret of 30 bytes ...';
    const first = await own.update(id, { secret });
    const again = await own.update(id, { secret });
    expect(again.secret).toBe(first.secret);
    await own.test(id);
    const [request] = await receiver.arrived('/same');
    for (const each of [before, first.secret]) expect(verified(request as never, each).test).toBe(true);
  });

  test('twice within a day ends the first one', async () => {
    const { webhook_id: id, secret: leaked } = await own.register(receiver.url('/twice'));
    await own.update(id, { secret: null });
    await own.update(id, { secret: null });
    await own.test(id);
    const [request] = await receiver.arrived('/twice');
    expect(() => verified(request as never, leaked)).toThrow();
  });
});
