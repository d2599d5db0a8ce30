// consume and ack: leases, receipts and their fences.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

let made = 0;
/** A queue with `messages` messages {n}. */
async function filled(messages: number, settings: Record<string, unknown> = {}): Promise<string> {
  made += 1;
  const name = `filled-${made}`;
  await bench.create(name, settings);
  await bench.batch(
    name,
    Array.from({ length: messages }, (_, n) => ({ payload: { n } })),
  );
  return name;
}

describe('consume', () => {
  test('delivers one message unless more are asked for, at most ten, in publish order, free and silently', async () => {
    const queue = await filled(12);
    await bench.costing(0, {}, async () => {
      const one = await bench.ok('POST', '/v1/queue/consume', { queue });
      expect(one.items.map((item: { payload: unknown }) => item.payload)).toEqual([{ n: 0 }]);
      expect((await bench.payloads(queue)).map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });
    expect(await bench.counts(queue)).toEqual([1, 11, 0, 0]);
  });

  test.each([
    ['max_messages', 0],
    ['max_messages', 11],
    ['max_messages', 1.5],
    ['visibility_timeout', -1],
    ['visibility_timeout', 43_201],
    ['wait_seconds', 21],
    ['wait_seconds', -1],
  ])('%s %d is refused and leases nothing', async (param, value) => {
    const queue = await filled(1);
    const error = await bench.fails('POST', '/v1/queue/consume', { queue, [param]: value });
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param });
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 0]);
  });

  test('the lease lasts the visibility timeout of the queue, or the one sent, then the message comes back', async () => {
    const queue = await filled(1, { visibility_timeout_default: 60 });
    const [first] = await bench.consume(queue);
    expect(Date.parse(first.visibility_timeout_expires_at) - Date.parse(first.published_at)).toBeLessThan(70_000);
    await bench.advance(55);
    expect(await bench.consume(queue)).toEqual([]);
    await bench.advance(10);
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 0]);
    const [second] = await bench.consume(queue, { visibility_timeout: 5 });
    expect(second).toMatchObject({ message_id: first.message_id, delivery_count: 2, published_at: first.published_at });
    expect(second.available_at).toBe(first.visibility_timeout_expires_at);
    expect(second.receipt_handle).not.toBe(first.receipt_handle);
    await bench.advance(6);
    expect(await bench.consume(queue)).toHaveLength(1);
  });

  test('visibility_timeout 0 delivers without keeping others from it', async () => {
    const queue = await filled(1);
    for (const count of [1, 2, 3])
      expect(await bench.consume(queue, { visibility_timeout: 0 })).toMatchObject([{ delivery_count: count }]);
  });

  test('callers who ask at once get different messages, each no more than it wants', async () => {
    const queue = await filled(30);
    const wants = [1, 10, 3, 7, 2, 10, 4];
    const got = await Promise.all(wants.map((max_messages) => bench.consume(queue, { max_messages })));
    for (const [i, items] of got.entries()) expect(items.length).toBeLessThanOrEqual(wants[i] as number);
    const ids = got.flat().map((item) => item.message_id);
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
  });

  test('callers with different visibility timeouts each get their own', async () => {
    const queue = await filled(2);
    const both = await Promise.all([
      bench.consume(queue, { max_messages: 1, visibility_timeout: 10 }),
      bench.consume(queue, { max_messages: 1, visibility_timeout: 1_000 }),
    ]);
    const [short, long] = both.map(([item]) => Date.parse(item.visibility_timeout_expires_at)) as [number, number];
    expect(long - short).toBeGreaterThan(980_000);
  });

  test('settings changed are those of the next lease', async () => {
    const queue = await filled(2);
    await bench.consume(queue, { max_messages: 1 });
    await bench.update(queue, { visibility_timeout_default: 7 });
    const [item] = await bench.consume(queue);
    const leaseMs = Date.parse(item.visibility_timeout_expires_at) - Date.parse(item.published_at);
    expect(leaseMs).toBeLessThan(30_000);
  });
});

describe('ack', () => {
  test('removes the message for good, by receipt or by id in either field', async () => {
    const queue = await filled(4);
    const items = await bench.consume(queue);
    const bodies = [
      { receipt_handle: items[0].receipt_handle },
      { message_id: items[1].message_id },
      { receipt_handle: items[2].message_id },
      { message_id: items[3].receipt_handle },
    ];
    await bench.costing(0, {}, async () => {
      for (const [i, body] of bodies.entries())
        expect(await bench.ok('POST', '/v1/queue/ack', { queue, ...body })).toEqual({
          message_id: items[i].message_id,
          acked: true,
          status: 'deleted',
        });
    });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 0]);
    await bench.advance(1_000);
    expect(await bench.consume(queue)).toEqual([]);
    expect(await bench.ack(queue, items[0].receipt_handle)).toMatchObject({ acked: false, status: null });
  });

  test('an old receipt does nothing after a redelivery; the new one does', async () => {
    const queue = await filled(1, { visibility_timeout_default: 5 });
    const [old] = await bench.consume(queue);
    await bench.advance(6);
    const [current] = await bench.consume(queue);
    for (const call of [bench.ack(queue, old.receipt_handle), bench.extend(queue, old.receipt_handle, 60)])
      expect(await call).toMatchObject({ message_id: old.message_id });
    expect(await bench.ack(queue, old.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.nack(queue, old.receipt_handle)).toMatchObject({ nacked: false, status: null });
    expect(await bench.extend(queue, old.receipt_handle, 60)).toMatchObject({ extended: false });
    expect(await bench.counts(queue)).toEqual([0, 1, 0, 0]);
    expect(await bench.ack(queue, current.receipt_handle)).toMatchObject({ acked: true });
  });

  test('a bare message_id acts on the current lease, and on nothing when there is none', async () => {
    const queue = await filled(1, { visibility_timeout_default: 5 });
    const [peeked] = await bench.peek(queue);
    const byId = () => bench.ok('POST', '/v1/queue/ack', { queue, message_id: peeked.message_id });
    expect(await byId()).toMatchObject({ acked: false });
    await bench.consume(queue);
    await bench.advance(6);
    await bench.consume(queue);
    expect(await byId()).toMatchObject({ acked: true });
  });

  test('a lease that ended and that nobody took since still counts', async () => {
    const queue = await filled(3, { visibility_timeout_default: 5 });
    const [a, b, c] = await bench.consume(queue);
    await bench.advance(60);
    expect(await bench.counts(queue)).toEqual([3, 0, 0, 0]);
    expect(await bench.ack(queue, a.receipt_handle)).toMatchObject({ acked: true });
    expect(await bench.extend(queue, b.receipt_handle, 60)).toMatchObject({ extended: true });
    expect(await bench.nack(queue, c.receipt_handle, { delay_seconds: 60 })).toMatchObject({ nacked: true });
    expect(await bench.counts(queue)).toEqual([0, 1, 1, 0]);
  });

  test('receipts and ids mixed in one call are answered in order, each message settled once', async () => {
    const queue = await filled(3);
    const [a, b, c] = await bench.consume(queue);
    await bench.nack(queue, c.receipt_handle);
    const [again] = await bench.consume(queue);
    const receipts = [
      b.message_id,
      'rcpt_nonsense',
      a.receipt_handle,
      b.receipt_handle,
      c.receipt_handle,
      again.receipt_handle,
      again.message_id,
    ];
    const { items } = await bench.ok('POST', '/v1/queue/ack', { queue, receipts });
    const acked = [true, false, true, false, false, true, false];
    const error = { code: 'MESSAGE_NOT_IN_FLIGHT', message: expect.stringContaining('stale') };
    expect(items).toMatchObject(acked.map((ok) => ({ ok, acked: ok, error: ok ? null : error })));
    expect(items.map((each: { message_id: string }) => each.message_id)).toEqual([
      b.message_id,
      'rcpt_nonsense',
      a.message_id,
      b.message_id,
      c.message_id,
      c.message_id,
      c.message_id,
    ]);
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 0]);
  });

  test('of many calls at once for one message exactly one is true', async () => {
    const queue = await filled(1);
    const [item] = await bench.consume(queue);
    const calls = Array.from({ length: 20 }, (_, i) =>
      bench.ack(queue, i % 2 === 0 ? item.receipt_handle : item.message_id),
    );
    expect((await Promise.all(calls)).filter((result) => result.acked)).toHaveLength(1);
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 0]);
  });

  test.each([
    ['neither field', {}, 400],
    ['receipts beside a receipt', { receipts: ['x'], receipt_handle: 'x' }, 400],
    ['no receipts', { receipts: [] }, 400],
    ['101 receipts', { receipts: Array.from({ length: 101 }, () => 'x') }, 400],
  ])('%s is refused', async (_, body, status) => {
    const queue = await filled(1);
    for (const operation of ['ack', 'nack'])
      expect((await bench.call('POST', `/v1/queue/${operation}`, { queue, ...body })).status).toBe(status);
  });

  test('both fields must name the same message', async () => {
    const queue = await filled(2);
    const [a, b] = await bench.consume(queue);
    for (const operation of ['ack', 'nack', 'extend']) {
      const lease = operation === 'extend' ? { visibility_timeout: 9 } : {};
      const body = { queue, receipt_handle: a.receipt_handle, message_id: b.message_id, ...lease };
      expect(await bench.fails('POST', `/v1/queue/${operation}`, body)).toMatchObject({ code: 'INVALID_REQUEST' });
    }
    expect(await bench.counts(queue)).toEqual([0, 2, 0, 0]);
    const same = { queue, receipt_handle: a.receipt_handle, message_id: a.message_id };
    expect(await bench.ok('POST', '/v1/queue/ack', same)).toMatchObject({ acked: true });
  });

  test('messages of other accounts and of other queues are untouched: 200 with false', async () => {
    const queue = await filled(1);
    const elsewhere = await filled(1);
    const [item] = await bench.consume(queue);
    const other = await bench.withAccount();
    await other.create(queue);
    for (const [caller, name] of [
      [other, queue],
      [bench, elsewhere],
    ] as const) {
      expect(await caller.ack(name, item.receipt_handle)).toMatchObject({ acked: false });
      expect(await caller.nack(name, item.message_id)).toMatchObject({ nacked: false });
      expect(await caller.extend(name, item.receipt_handle, 5)).toMatchObject({ extended: false });
    }
    expect(await bench.counts(queue)).toEqual([0, 1, 0, 0]);
  });
});
