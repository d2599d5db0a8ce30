// publish and batch publish: what is stored, answered, charged, refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLISH_NANOS, QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
  await bench.create('jobs');
});
afterAll(() => bench.stop());

describe('publish', () => {
  test('answers the message as it is stored and charges one publish', async () => {
    const fields = { headers: { trace: 'a' }, priority: 4 };
    const message = await bench.costing(1, {}, () => bench.publish('jobs', { n: 1 }, fields));
    expect(message).toEqual({
      message_id: expect.stringMatching(/^qmsg_[A-Za-z0-9]{20,}$/),
      queue: 'jobs',
      account_id: bench.account.accountId,
      payload: { n: 1 },
      headers: { trace: 'a' },
      status: 'available',
      delivery_count: 0,
      visibility_timeout_expires_at: null,
      published_at: expect.stringMatching(/Z$/),
      available_at: message.published_at,
      priority: 4,
      message_group_id: null,
      deduplication_id: null,
    });
    const [delivered] = await bench.consume('jobs');
    const { receipt_handle: receipt, ...record } = delivered;
    expect(record).toEqual({
      ...message,
      status: 'in_flight',
      delivery_count: 1,
      visibility_timeout_expires_at: expect.any(String),
    });
    await bench.ack('jobs', receipt);
  });

  test('body is another name for payload; both are refused, and so is neither', async () => {
    expect((await bench.ok('POST', '/v1/queue/publish', { queue: 'jobs', body: { b: 1 } })).payload).toEqual({ b: 1 });
    await bench.costing(0, {}, async () => {
      const both = { queue: 'jobs', payload: {}, body: {} };
      expect(await bench.fails('POST', '/v1/queue/publish', both)).toMatchObject({ http_status: 400, param: 'body' });
      const neither = await bench.fails('POST', '/v1/queue/publish', { queue: 'jobs' });
      expect(neither).toMatchObject({ http_status: 400, param: 'payload' });
    });
  });

  test.each([
    ['a payload that is no object', { payload: [1] }, 'payload'],
    ['payload null', { payload: null }, 'payload'],
    ['a delay above seven days', { payload: {}, delay_seconds: 604_801 }, 'delay_seconds'],
    ['a negative delay', { payload: {}, delay_seconds: -1 }, 'delay_seconds'],
    ['priority 11', { payload: {}, priority: 11 }, 'priority'],
    ['priority 1.5', { payload: {}, priority: 1.5 }, 'priority'],
    ['a group on a standard queue', { payload: {}, message_group_id: 'g' }, 'message_group_id'],
    ['a deduplication id on a standard queue', { payload: {}, deduplication_id: 'd' }, 'deduplication_id'],
  ])('%s is refused, costs nothing and stores nothing', async (_, body, param) => {
    const before = await bench.counts('jobs');
    await bench.costing(0, {}, async () => {
      const error = await bench.fails('POST', '/v1/queue/publish', { queue: 'jobs', ...body });
      expect(error).toMatchObject({ code: 'VALIDATION_FAILED', http_status: 400, param });
    });
    expect(await bench.counts('jobs')).toEqual(before);
  });

  test('a missing queue is 404 and costs nothing', async () => {
    await bench.costing(0, {}, async () => {
      const error = await bench.fails('POST', '/v1/queue/publish', { queue: 'missing', payload: {} });
      expect(error).toMatchObject({ code: 'QUEUE_NOT_FOUND', http_status: 404 });
    });
  });

  test('an empty wallet is 402: nothing is stored, nothing is charged', async () => {
    const poor = await bench.withAccount(0.00003);
    await poor.create('poor');
    await poor.publish('poor');
    await poor.costing(0, {}, async () => {
      const error = await poor.fails('POST', '/v1/queue/publish', { queue: 'poor', payload: {} });
      expect(error).toMatchObject({ code: 'INSUFFICIENT_CREDIT', http_status: 402, code_detail: 'balance' });
    });
    expect(await poor.counts('poor')).toEqual([1, 0, 0, 0]);
  });

  test('an idempotency key stores and charges once, and answers the same', async () => {
    await bench.create('once');
    const body = { queue: 'once', payload: { n: 1 }, idempotency_key: 'k1' };
    const [first, second] = await bench.costing(1, {}, async () => [
      await bench.call('POST', '/v1/queue/publish', body),
      await bench.call('POST', '/v1/queue/publish', body),
    ]);
    expect(second.body.data).toEqual(first.body.data);
    expect(second.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    expect(await bench.counts('once')).toEqual([1, 0, 0, 0]);
    const reused = await bench.fails('POST', '/v1/queue/publish', { ...body, payload: { n: 2 } });
    expect(reused).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', http_status: 409 });
  });
});

describe('batch publish', () => {
  test('stores in the order sent and charges for each message', async () => {
    await bench.create('batch');
    const messages = Array.from({ length: 100 }, (_, n) => ({ payload: { n } }));
    const reply = await bench.costing(100, {}, () => bench.batch('batch', messages));
    expect(reply.queue).toBe('batch');
    expect(reply.items.map((item: { payload: unknown }) => item.payload)).toEqual(messages.map((one) => one.payload));
    const order: number[] = [];
    while (order.length < 100) order.push(...(await bench.payloads('batch')).map(({ n }) => n));
    expect(order).toEqual(messages.map((_, n) => n));
  });

  test.each([
    ['one bad message', [{ payload: {} }, { payload: 1 }], 'items[1].payload'],
    ['one bad delay', [{ payload: {} }, { payload: {} }, { payload: {}, delay_seconds: -1 }], 'items[2].delay_seconds'],
    [
      'one group on a standard queue',
      [{ payload: {} }, { payload: {}, message_group_id: 'g' }],
      'items[1].message_group_id',
    ],
    ['both payload and body', [{ payload: {}, body: {} }], 'items[0].body'],
    ['no payload', [{}], 'items[0].payload'],
    ['no messages', [], 'items'],
    ['101 messages', Array.from({ length: 101 }, () => ({ payload: {} })), 'items'],
  ])('%s refuses all of them', async (_, items, param) => {
    await bench.create('whole');
    await bench.costing(0, {}, async () => {
      const error = await bench.fails('POST', '/v1/queue/batch/publish', { queue: 'whole', items });
      expect(error).toMatchObject({ http_status: 400, param });
    });
    expect(await bench.counts('whole')).toEqual([0, 0, 0, 0]);
  });

  test('a wallet that covers only some of them pays for none', async () => {
    const poor = await bench.withAccount(0.00005);
    await poor.create('poor');
    await poor.costing(0, {}, async () => {
      const body = { queue: 'poor', items: [{ payload: {} }, { payload: {} }, { payload: {} }] };
      expect(await poor.fails('POST', '/v1/queue/batch/publish', body)).toMatchObject({ http_status: 402 });
    });
    expect(await poor.counts('poor')).toEqual([0, 0, 0, 0]);
    await poor.costing(2, { 'wallet.low_balance': 1 }, () => poor.batch('poor', [{ payload: {} }, { payload: {} }]));
  });

  test('batches above 256 KiB are charged and counted like small ones, up to 4 MiB', async () => {
    await bench.create('large');
    const text = 'x'.repeat(40_000);
    const messages = Array.from({ length: 100 }, (_, n) => ({ payload: { n, text } }));
    const { items } = await bench.costing(100, {}, () => bench.batch('large', messages));
    expect(items.map((item: { payload: { n: number } }) => item.payload.n)).toEqual(messages.map((_, n) => n));
    expect(await bench.counts('large')).toEqual([100, 0, 0, 0]);
    const tooLarge = messages.map(({ payload }) => ({ payload: { ...payload, more: 'y'.repeat(5_000) } }));
    const error = await bench.fails('POST', '/v1/queue/batch/publish', { queue: 'large', items: tooLarge });
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', http_status: 413 });
  });

  test('the price is 0.00002 USD a message', async () => {
    expect(PUBLISH_NANOS).toBe(20_000n);
    const reply = await bench.call('POST', '/v1/queue/batch/publish', {
      queue: 'jobs',
      items: [{ payload: {} }, { payload: {} }],
    });
    expect(reply.body.metadata.cost_usd).toBe(0.00004);
  });
});
