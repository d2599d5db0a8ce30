// Push subscriptions as records: made once, listed without their secrets, ended with their queue, and nobody else's business.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/process.ts';
import { PushBench, silent } from './push-bench.ts';
import { type Receiver, startReceiver } from './push-receiver.ts';

let bench: PushBench;
let receiver: Receiver;
beforeAll(async () => {
  [bench, receiver] = await Promise.all([PushBench.begin(), startReceiver()]);
});
afterAll(async () => {
  await bench.stop();
  await receiver.stop();
});

describe('the record', () => {
  test('shows the secret once and the headers masked; the list has it newest first, page by page', async () => {
    await bench.create('listed');
    const made = await bench.subscribe('listed', receiver, {
      headers: { Authorization: 'Bearer very-secret', 'x-short': 'ab' },
      visibility_timeout: 45,
      max_in_flight: 3,
    });
    const { secret, ...record } = made;
    expect(record).toEqual({
      subscription_id: expect.stringMatching(/^sub_[0-9A-Za-z]{20,}$/),
      queue: 'listed',
      url: receiver.url,
      status: 'active',
      headers: { Authorization: '****et', 'x-short': '****' },
      visibility_timeout: 45,
      timeout_seconds: 15,
      max_in_flight: 3,
      secret_last4: secret.slice(-4),
      created_at: expect.any(String),
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
    const plain = await bench.subscribe('listed', receiver);
    expect(plain).toMatchObject({ headers: {}, visibility_timeout: null, max_in_flight: 10 });
    const first = await bench.ok('GET', '/v1/queue/subscriptions/listed?limit=1');
    const { secret: _, ...plainRecord } = plain;
    expect(first).toMatchObject({ items: [plainRecord], has_more: true });
    const second = await bench.ok('GET', `/v1/queue/subscriptions/listed?limit=1&cursor=${first.next_cursor}`);
    expect(second).toEqual({ items: [record], next_cursor: null, has_more: false });
  });

  test('costs nothing and tells no event', async () => {
    await bench.create('free');
    await bench.costing(0, {}, async () => {
      const { subscription_id } = await bench.subscribe('free', receiver);
      await bench.subscriptions('free');
      await bench.unsubscribe(subscription_id);
    });
  });

  test('is stored without its secret and headers in the clear', async () => {
    await bench.create('sealed');
    const fields = { headers: { 'x-token': 'plain-token-value' }, secret: 'plain-secret-of-32-characters-00' };
    const { subscription_id } = await bench.subscribe('sealed', receiver, { ...fields, idempotency_key: 'sealed' });
    const { rows } = await bench.service.core.db.query<{ row: string }>(
      {
        name: 'test_push_row',
        text: `SELECT encode(s.headers || s.secret, 'escape') || to_jsonb(s)::text || (SELECT string_agg(to_jsonb(i)::text, '') FROM core.idempotency i) AS row
                 FROM queue.subscription s WHERE s.subscription_id = $1`,
      },
      [subscription_id],
    );
    const [{ row }] = rows as [{ row: string }];
    for (const text of [fields.secret, Buffer.from(fields.secret).toString('base64'), fields.headers['x-token']]) {
      expect(row).not.toContain(text);
      expect(row).not.toContain(Buffer.from(text).toString('hex'));
    }
  });

  test('an idempotency key replays it with the same secret', async () => {
    await bench.create('again');
    const input = { idempotency_key: 'again' };
    const made = await bench.subscribe('again', receiver, input);
    expect(await bench.subscribe('again', receiver, input)).toEqual(made);
    expect(await bench.subscriptions('again')).toHaveLength(1);
  });
});

describe('is refused', () => {
  beforeAll(() => bench.create('strict'));

  test.each([
    ['a queue that is not there', { queue: 'nowhere' }, 'QUEUE_NOT_FOUND', 'queue'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'WEBHOOK_URL_REJECTED', 'url'],
    ['http to the world', { url: 'http://93.184.216.34/' }, 'WEBHOOK_URL_REJECTED', 'url'],
    ['user information', { url: 'https://user:pass@example.org/' }, 'WEBHOOK_URL_REJECTED', 'url'],
    ['no URL', { url: 'nonsense' }, 'WEBHOOK_URL_REJECTED', 'url'],
    ['an empty URL', { url: '' }, 'VALIDATION_FAILED', 'url'],
    ['a reserved header', { headers: { Host: 'example.org' } }, 'WEBHOOK_HEADER_REJECTED', 'headers.Host'],
    ['a signing header', { headers: { 'webhook-id': 'x' } }, 'WEBHOOK_HEADER_REJECTED', 'headers.webhook-id'],
    ['a header with a line break', { headers: { x: 'a\r\nb: c' } }, 'WEBHOOK_HEADER_REJECTED', 'headers.x'],
    ['a header that is no text', { headers: { x: 7 } }, 'VALIDATION_FAILED', 'headers.x'],
    ['a short secret', { secret: 'whsec_AAAA' }, 'VALIDATION_FAILED', 'secret'],
    ['a lease shorter than an attempt', { visibility_timeout: 29 }, 'VALIDATION_FAILED', 'visibility_timeout'],
    ['too long a lease', { visibility_timeout: 43_201 }, 'VALIDATION_FAILED', 'visibility_timeout'],
    [
      'a lease shorter than its answers',
      { timeout_seconds: 60, visibility_timeout: 74 },
      'VALIDATION_FAILED',
      'visibility_timeout',
    ],
    ['no time to answer', { timeout_seconds: 0 }, 'VALIDATION_FAILED', 'timeout_seconds'],
    ['more than a quarter of an hour', { timeout_seconds: 901 }, 'VALIDATION_FAILED', 'timeout_seconds'],
    ['none in flight', { max_in_flight: 0 }, 'VALIDATION_FAILED', 'max_in_flight'],
    ['eleven in flight', { max_in_flight: 11 }, 'VALIDATION_FAILED', 'max_in_flight'],
    ['half a message in flight', { max_in_flight: 1.5 }, 'VALIDATION_FAILED', 'max_in_flight'],
  ])('%s', async (_, fields, code, param) => {
    const error = await bench.fails('POST', '/v1/queue/subscribe', { queue: 'strict', url: receiver.url, ...fields });
    expect([error.code, error.param]).toEqual([code, param]);
    expect(await bench.subscriptions('strict')).toEqual([]);
  });

  test('the eleventh of a queue, also when many come at once', async () => {
    await bench.create('full');
    const body = { queue: 'full', url: receiver.url };
    const replies = await Promise.all(
      Array.from({ length: 14 }, () => bench.call('POST', '/v1/queue/subscribe', body)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const codes = replies.flatMap(({ body: { error } }) => (error === undefined ? [] : [error.code]));
    expect(codes).toEqual(Array.from({ length: 4 }, () => 'QUOTA_EXCEEDED'));
    const [{ subscription_id }] = await bench.subscriptions('full');
    await bench.unsubscribe(subscription_id);
    await bench.subscribe('full', receiver);
    expect(await bench.subscriptions('full')).toHaveLength(10);
  });

  test("another account's subscription, and one that is gone", async () => {
    await bench.create('mine');
    const { subscription_id } = await bench.subscribe('mine', receiver);
    const other = await bench.another();
    for (const id of [subscription_id, 'sub_1111111111111111111111']) {
      const error = await other.fails('DELETE', `/v1/queue/unsubscribe/${id}`);
      expect([error.code, error.param]).toEqual(['SUBSCRIPTION_NOT_FOUND', 'subscription_id']);
    }
    expect(await bench.subscriptions('mine')).toHaveLength(1);
    expect(await bench.unsubscribe(subscription_id)).toEqual({ subscription_id, queue: 'mine', deleted: true });
    expect((await bench.fails('DELETE', `/v1/queue/unsubscribe/${subscription_id}`)).code).toBe(
      'SUBSCRIPTION_NOT_FOUND',
    );
    expect((await other.fails('GET', '/v1/queue/subscriptions/mine')).code).toBe('QUEUE_NOT_FOUND');
  });
});

test('ends with its queue; a queue of the same name is not pushed', async () => {
  for (const type of ['standard', 'fifo']) {
    const queue = `reborn-${type}`;
    await bench.create(queue, { type });
    await bench.subscribe(queue, receiver);
    await bench.publishNumbers(queue, 50);
    await bench.ok('DELETE', `/v1/queue/delete/${queue}`);
    await bench.create(queue, { type });
    expect(await bench.subscriptions(queue)).toEqual([]);
    const before = receiver.requests.length;
    await bench.publishNumbers(queue, 3, undefined, 1_000);
    expect(await silent(receiver, 1_500)).toBe(true);
    expect(receiver.requests.slice(before)).toEqual([]);
    expect(receiver.numbers().filter((n) => n >= 1_000)).toEqual([]);
    expect((await bench.stats(queue)).message_count).toBe(3);
  }
});

test('a suspended account is not pushed for until it is released', async () => {
  const other = await bench.another();
  await other.create('suspended');
  await other.subscribe('suspended', receiver);
  const suspend = async (suspended: boolean) => {
    const text = 'UPDATE core.wallet SET suspended = $2 WHERE account_id = $1';
    await bench.service.core.db.query({ name: 'test_push_suspend', text }, [other.account.accountId, suspended]);
  };
  const before = receiver.requests.length;
  await other.publish('suspended', { n: 1 }, { delay_seconds: 1 });
  await suspend(true);
  expect(await silent(receiver, 2_500)).toBe(true);
  await suspend(false);
  await until(() => receiver.requests.length === before + 1);
});
