// From the event to the receiver and back to the record: test, deliveries, redeliver, and what ends deliveries.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { type Data, LOCAL_TARGETS, type Received, Receiver, until, verified, WebhookCaller } from './api-harness.ts';

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

/** The only delivery of the webhook, once it is over. */
async function settled(id: string): Promise<Data> {
  await until(async () => (await own.deliveries(id)).every(({ finished_at }) => finished_at !== null), 'all settled');
  const [delivery] = await own.deliveries(id);
  return delivery;
}

describe('test', () => {
  test('sends the first subscribed type with the body as data.object, signed, and answers the delivery', async () => {
    const made = await own.register(receiver.url('/sample'), { events: ['wallet.expired', 'queue.dlq'] });
    const delivery = await own.test(made.webhook_id, { id: 'own id', deep: { list: [1, null, 'é'] }, webhook: true });
    expect(delivery).toEqual({
      delivery_id: expect.stringMatching(/^whd_/),
      webhook_id: made.webhook_id,
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'wallet.expired',
      status: 'succeeded',
      attempt: 1,
      next_attempt_at: null,
      http_status: 200,
      error_code: null,
      latency_ms: expect.any(Number),
      response_snippet: 'seen',
      request_headers: expect.objectContaining({ 'webhook-id': delivery.event_id }),
      attempts: [
        { attempt: 1, at: expect.any(String), http_status: 200, error_code: null, latency_ms: expect.any(Number) },
      ],
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
    const [request] = await receiver.arrived('/sample');
    expect(verified(request as never, made.secret)).toMatchObject({
      event_id: delivery.event_id,
      type: 'wallet.expired',
      account_id: own.accountId,
      test: true,
      data: { object: { id: 'own id', deep: { list: [1, null, 'é'] }, webhook: true } },
    });
    expect(await own.deliveries(made.webhook_id)).toEqual([delivery]);
  });

  test('numbers reach the receiver as they were written', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/numbers'));
    await own.test(id, '{"big":12345678901234567890,"id":1.10}');
    const [request] = await receiver.arrived('/numbers');
    expect(request?.body).toContain('"data":{"object":{"big":12345678901234567890,"id":1.10}}');
  });

  test('without a body data.object is empty; a large one is cut to 20 KiB and says so', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/sizes'));
    await own.test(id);
    await own.test(id, { text: 'x'.repeat(60_000) });
    const [empty, large] = await receiver.arrived('/sizes', 2);
    expect(empty?.event.data).toEqual({ object: {} });
    expect(large?.event.data.truncated).toBe(true);
    expect(Buffer.byteLength(large?.body ?? '')).toBeLessThanOrEqual(20 * 1024);
  });

  test.each<[string, unknown, string]>([
    ['a list', [1], 'INVALID_REQUEST'],
    ['a text', '"text"', 'INVALID_REQUEST'],
    ['no JSON', '{', 'MALFORMED_JSON'],
    ['__proto__', '{"__proto__":{"a":1}}', 'VALIDATION_FAILED'],
  ])('%s as body is refused, and nothing is sent', async (what, body, code) => {
    const path = `/refused/${encodeURIComponent(what)}`;
    const { webhook_id: id } = await own.register(receiver.url(path));
    expect((await own.fails('POST', `/v1/account/webhooks/test/${id}`, body)).slice(0, 2)).toEqual([400, code]);
    expect(await own.deliveries(id)).toEqual([]);
    expect(receiver.received.filter((each) => each.path === path)).toEqual([]);
  });

  test('a receiver that fails makes a failed delivery, not a failed call, and is not tried again', async () => {
    const failing = await Receiver.start();
    failing.status = 500;
    const { webhook_id: id } = await own.register(failing.url());
    expect(await own.test(id)).toMatchObject({ status: 'failed', http_status: 500, next_attempt_at: null, attempt: 1 });
    await failing.stop();
    expect(await own.test(id)).toMatchObject({ status: 'failed', http_status: null, error_code: 'connect' });
    expect(await own.get(id)).toMatchObject({ status: 'enabled' });
  });

  test('a disabled webhook can be tested before it is enabled', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/off'));
    await own.update(id, { status: 'disabled' });
    expect((await own.test(id)).status).toBe('succeeded');
    expect((await own.get(id)).status).toBe('disabled');
  });
});

describe('events', () => {
  test('arrive signed and with the custom headers, at the webhooks that want them only', async () => {
    const wanted = await own.register(receiver.url('/wanted'), { headers: { 'X-Tenant': 'north-west' } });
    const other = await own.register(receiver.url('/other'), { events: ['wallet.expired'] });
    const messageId = await own.deadLetter('arrive');
    const [request] = await receiver.arrived('/wanted');
    expect(request?.headers).toMatchObject({ 'x-tenant': 'north-west', 'content-type': 'application/json' });
    const event = verified(request as never, wanted.secret);
    expect(event).toMatchObject({ type: 'queue.dlq', test: false, data: { object: { message_id: messageId } } });
    expect(await settled(wanted.webhook_id)).toMatchObject({ event_id: event.event_id, status: 'succeeded' });
    expect(await own.deliveries(other.webhook_id)).toEqual([]);
    for (const { webhook_id: id } of [wanted, other]) await own.delete(id);
  });

  test('are verified by the recipe on the page of the operation and in llms.txt', async () => {
    const { secret, webhook_id: id } = await own.register(receiver.url('/recipe'));
    await own.deadLetter('recipe');
    const { headers, body } = (await receiver.arrived('/recipe'))[0] as Received;
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    expect(String(headers['webhook-signature']).split(' ')).toContain(expected);
    const { description } = await own.ok('GET', '/v1/discovery/account.webhooks.register');
    for (const words of [description, (await own.call('GET', '/llms.txt')).text]) {
      expect(words).toContain(
        'base64(HMAC-SHA256(key, `<webhook-id>.<webhook-timestamp>.<raw body>`)), key = base64-decode(secret without `whsec_`)',
      );
    }
    await own.delete(id);
  });

  test('a new url counts for what is pending', async () => {
    const failing = await Receiver.start();
    failing.status = 503;
    const { webhook_id: id } = await own.register(failing.url());
    await own.deadLetter('moved');
    await failing.arrived('/hooks');
    await until(async () => (await own.deliveries(id))[0]?.attempts.length === 1, 'the first attempt is recorded');
    await own.update(id, { url: receiver.url('/moved') });
    await service.advance(10);
    const [request] = await receiver.arrived('/moved');
    expect(request?.headers['webhook-id']).toBe(failing.received[0]?.headers['webhook-id']);
    await own.delete(id);
    await failing.stop();
  });
});

describe('deliveries', () => {
  test('are listed newest first, page by page, by status and by event type', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/listed'), { events: ['wallet.expired', 'queue.dlq'] });
    const made = [];
    for (let i = 0; i < 3; i += 1) made.unshift((await own.test(id)).delivery_id);
    await own.update(id, { events: ['queue.dlq'] });
    made.unshift((await own.test(id)).delivery_id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await own.ok('GET', `/v1/account/webhooks/deliveries/${id}?limit=3${cursor}`);
      seen.push(...page.items.map((item: Data) => item.delivery_id));
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : '';
    } while (cursor !== '');
    expect(seen).toEqual(made);
    const idsOf = async (query: string) => (await own.deliveries(id, query)).map(({ delivery_id }) => delivery_id);
    expect(await idsOf('?event_type=queue.dlq')).toEqual(made.slice(0, 1));
    expect(await idsOf('?event_type=wallet.expired&status=succeeded')).toEqual(made.slice(1));
    expect(await idsOf('?status=exhausted')).toEqual([]);
    const path = `/v1/account/webhooks/deliveries/${id}`;
    const { next_cursor: next } = await own.ok('GET', `${path}?limit=1`);
    expect(await own.fails('GET', `${path}?cursor=${next}&status=succeeded`)).toEqual([
      400,
      'INVALID_CURSOR',
      'cursor',
    ]);
    expect(await own.fails('GET', `${path}?status=lost`)).toEqual([400, 'VALIDATION_FAILED', 'status']);
    expect(await own.fails('GET', `${path}?event_type=none`)).toEqual([400, 'UNKNOWN_EVENT_TYPE', 'event_type']);
  });

  test('of an unknown webhook are 404, of a deleted one stay listed', async () => {
    const unknown = '/v1/account/webhooks/deliveries/wh_1111111111111111111111';
    expect(await own.fails('GET', unknown)).toEqual([404, 'WEBHOOK_NOT_FOUND', 'webhook_id']);
    const { webhook_id: id } = await own.register(receiver.url('/deleted'));
    const delivery = await own.test(id);
    await own.delete(id);
    expect(await own.deliveries(id)).toEqual([delivery]);
    expect(await own.deliveries(id, '?status=pending')).toEqual([]);
  });
});

describe('redeliver', () => {
  test('sends the same event again, with the same webhook-id, as a delivery of its own', async () => {
    const made = await own.register(receiver.url('/again'));
    const first = await own.test(made.webhook_id, { n: 1 });
    const second = await own.redeliver(first.delivery_id);
    expect(second).toMatchObject({ status: 'pending', attempt: 0, event_id: first.event_id, attempts: [] });
    expect(second.delivery_id).not.toBe(first.delivery_id);
    const requests = await receiver.arrived('/again', 2);
    const ids = requests.map((request) => verified(request, made.secret).event_id);
    expect(ids).toEqual([first.event_id, first.event_id]);
    expect(requests[1]?.body).toBe(requests[0]?.body);
    await settled(made.webhook_id);
    const statuses = (await own.deliveries(made.webhook_id)).map(({ delivery_id, status }) => [delivery_id, status]);
    expect(statuses).toEqual([
      [second.delivery_id, 'succeeded'],
      [first.delivery_id, 'succeeded'],
    ]);
  });

  test('an unknown delivery and one of a deleted webhook are 404, one of a disabled webhook is 409', async () => {
    const redeliver = (deliveryId: string) => own.fails('POST', `/v1/account/webhooks/redeliver/${deliveryId}`, {});
    const notFound = [404, 'NOT_FOUND', 'delivery_id'];
    expect(await redeliver('whd_1111111111111111111111')).toEqual(notFound);
    const { webhook_id: id } = await own.register(receiver.url('/no-more'));
    const { delivery_id: deliveryId } = await own.test(id);
    await own.update(id, { status: 'disabled' });
    expect(await redeliver(deliveryId)).toEqual([409, 'STATE_CONFLICT', 'delivery_id']);
    await own.delete(id);
    expect(await redeliver(deliveryId)).toEqual(notFound);
  });
});

describe('what is pending', () => {
  let failing: Receiver;

  beforeAll(async () => {
    failing = await Receiver.start();
    failing.status = 500;
  });
  afterAll(() => failing.stop());

  /** A webhook with one delivery whose first attempt failed. */
  async function withPending(queue: string): Promise<string> {
    const { webhook_id: id } = await own.register(failing.url(`/${queue}`), { retry_policy: 'aggressive' });
    await own.deadLetter(queue);
    await until(async () => (await own.deliveries(id))[0]?.attempts.length === 1, 'the first attempt is recorded');
    expect((await own.deliveries(id))[0]).toMatchObject({ status: 'pending', next_attempt_at: expect.any(String) });
    return id;
  }

  test.each<[string, string, (id: string) => Promise<Data>]>([
    ['deleting', 'cancelled', (id) => own.delete(id)],
    ['disabling', 'skipped', (id) => own.update(id, { status: 'disabled' })],
  ])('%s ends it as %s, and nothing arrives any more', async (what, status, end) => {
    const id = await withPending(what);
    await end(id);
    const [delivery] = await own.deliveries(id);
    expect(delivery).toMatchObject({ status, next_attempt_at: null, finished_at: expect.any(String) });
    const before = failing.received.filter(({ path }) => path === `/${what}`).length;
    await own.deadLetter(`${what}-after`);
    await service.advance(48 * 3600);
    const marker = await own.register(receiver.url(`/${what}-marker`));
    await own.deadLetter(`${what}-marker`);
    await receiver.arrived(`/${what}-marker`);
    expect(failing.received.filter(({ path }) => path === `/${what}`)).toHaveLength(before);
    expect(await own.deliveries(id)).toEqual([delivery]);
    await own.delete(marker.webhook_id);
  });

  test('enabling starts deliveries of later events again', async () => {
    const { webhook_id: id } = await own.register(receiver.url('/back'));
    await own.update(id, { status: 'disabled' });
    await own.deadLetter('while-off');
    await own.ok('GET', '/v1/account/events/list');
    await own.update(id, { status: 'enabled' });
    const messageId = await own.deadLetter('when-on');
    const requests = await receiver.arrived('/back');
    expect(requests.map(({ event }) => event.data.object.message_id)).toEqual([messageId]);
    await own.delete(id);
  });
});
