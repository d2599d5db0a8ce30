// FIFO: strict order per group, a group blocked until all that was delivered is settled, deduplication.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

const numbers = async (queue: string, fields = {}) => (await bench.payloads(queue, fields)).map(({ n }) => n);

async function filled(name: string, groups: string[], settings: Record<string, unknown> = {}): Promise<void> {
  await bench.create(name, { type: 'fifo', ...settings });
  await bench.batch(
    name,
    groups.map((group, n) => ({ payload: { n }, message_group_id: group })),
  );
}

describe('order', () => {
  test('one consume returns consecutive messages of a group, and the group waits until all are settled', async () => {
    await filled('block.fifo', ['g', 'g', 'g']);
    const [a, b] = await bench.consume('block.fifo', { max_messages: 2 });
    expect([a.payload.n, b.payload.n]).toEqual([0, 1]);
    expect(await bench.consume('block.fifo')).toEqual([]);
    expect(await bench.counts('block.fifo')).toEqual([1, 2, 0, 0]);
    await bench.ack('block.fifo', b.receipt_handle);
    expect(await bench.consume('block.fifo')).toEqual([]);
    await bench.ack('block.fifo', a.receipt_handle);
    expect(await numbers('block.fifo')).toEqual([2]);
  });

  test('many consumers at once: a group is in the hands of one of them', async () => {
    const groups = ['a', 'a', 'a', 'b', 'b', 'c'];
    await filled('exclusive.fifo', groups);
    const deliveries = await Promise.all(
      Array.from({ length: 8 }, () => bench.consume('exclusive.fifo', { max_messages: 1 })),
    );
    const taken = deliveries.flat().map((item) => item.message_group_id);
    expect(taken.sort()).toEqual(['a', 'b', 'c']);
    expect(deliveries.flat().map((item) => item.payload.n)).toEqual(expect.arrayContaining([0, 3, 5]));
  });

  test('other groups go on', async () => {
    await filled('groups.fifo', ['a', 'a', 'b', 'c', 'b']);
    expect(await numbers('groups.fifo', { max_messages: 1 })).toEqual([0]);
    expect(await numbers('groups.fifo')).toEqual([2, 4, 3]);
    expect(await bench.peek('groups.fifo')).toEqual([]);
  });

  test('messages without a group share the default one, shown as null', async () => {
    await bench.create('default.fifo', { type: 'fifo' });
    await bench.batch('default.fifo', [{ payload: { n: 0 } }, { payload: { n: 1 } }]);
    const [item] = await bench.consume('default.fifo', { max_messages: 1 });
    expect(item.message_group_id).toBeNull();
    expect(await bench.consume('default.fifo')).toEqual([]);
  });

  test('a nack returns the message and every later one to the head; their receipts die', async () => {
    await filled('nack.fifo', ['g', 'g', 'g', 'g']);
    const [a, b, c] = await bench.consume('nack.fifo', { max_messages: 3 });
    expect(await bench.nack('nack.fifo', b.receipt_handle)).toMatchObject({ nacked: true, status: 'available' });
    expect(await bench.ack('nack.fifo', c.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.counts('nack.fifo')).toEqual([3, 1, 0, 0]);
    expect(await bench.consume('nack.fifo')).toEqual([]);
    await bench.ack('nack.fifo', a.receipt_handle);
    expect((await bench.peek('nack.fifo')).map((item) => item.payload.n)).toEqual([1, 2, 3]);
    const again = await bench.consume('nack.fifo');
    expect(again.map((item) => [item.payload.n, item.delivery_count])).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
    ]);
  });

  test('the end of one lease returns it and every later one, also those with longer leases', async () => {
    await filled('expiry.fifo', ['g', 'g', 'g'], { visibility_timeout_default: 30 });
    const [a, b, c] = await bench.consume('expiry.fifo');
    await bench.extend('expiry.fifo', a.receipt_handle, 1_000);
    await bench.extend('expiry.fifo', c.receipt_handle, 1_000);
    await bench.advance(31);
    expect(await bench.ack('expiry.fifo', b.receipt_handle)).toMatchObject({ acked: false });
    expect(await bench.extend('expiry.fifo', c.receipt_handle, 5)).toMatchObject({ extended: false });
    expect(await bench.nack('expiry.fifo', c.receipt_handle)).toMatchObject({ nacked: false });
    expect(await bench.counts('expiry.fifo')).toEqual([2, 1, 0, 0]);
    expect(await bench.ack('expiry.fifo', a.receipt_handle)).toMatchObject({ acked: true });
    expect(await numbers('expiry.fifo')).toEqual([1, 2]);
  });

  test('a delay holds the head of its group; what is behind it counts as available', async () => {
    await bench.create('held.fifo', { type: 'fifo' });
    await bench.publish('held.fifo', { n: 0 }, { delay_seconds: 60 });
    await bench.publish('held.fifo', { n: 1 });
    expect(await bench.consume('held.fifo')).toEqual([]);
    expect(await bench.counts('held.fifo')).toEqual([1, 0, 1, 0]);
    await bench.advance(61);
    expect(await numbers('held.fifo')).toEqual([0, 1]);
  });

  test('a delayed message in the middle ends a delivery', async () => {
    await bench.create('middle.fifo', { type: 'fifo' });
    await bench.batch('middle.fifo', [
      { payload: { n: 0 } },
      { payload: { n: 1 }, delay_seconds: 60 },
      { payload: { n: 2 } },
    ]);
    expect((await bench.peek('middle.fifo')).map((item) => item.payload.n)).toEqual([0]);
    expect(await numbers('middle.fifo')).toEqual([0]);
  });

  test('priority is refused', async () => {
    const error = await bench.fails('POST', '/v1/queue/publish', { queue: 'held.fifo', payload: {}, priority: 0 });
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'priority' });
  });

  test('a blocked or emptied group does not hide the ones behind it', async () => {
    await filled('hidden.fifo', ['a', 'a', 'b'], { visibility_timeout_default: 30 });
    const [first] = await bench.consume('hidden.fifo', { max_messages: 2 });
    await bench.extend('hidden.fifo', first.receipt_handle, 1_000);
    await bench.advance(31);
    // a is ready to be looked at (its second lease has ended), but its first still runs
    expect(await numbers('hidden.fifo', { max_messages: 1 })).toEqual([2]);
  });

  test('consumers of many groups at once see every group in order, each message once', async () => {
    await bench.create('many.fifo', { type: 'fifo' });
    const sent = Array.from({ length: 200 }, (_, n) => ({ payload: { n }, message_group_id: `g${n % 7}` }));
    await bench.batch('many.fifo', sent.slice(0, 100));
    await bench.batch('many.fifo', sent.slice(100));
    const seen: { n: number; group: string }[] = [];
    const worker = async () => {
      for (let idle = 0; idle < 5; ) {
        const items = await bench.consume('many.fifo', { max_messages: 3 });
        idle = items.length === 0 ? idle + 1 : 0;
        for (const item of items) seen.push({ n: item.payload.n, group: item.message_group_id });
        if (items.length > 0)
          await bench.ok('POST', '/v1/queue/ack', {
            queue: 'many.fifo',
            receipts: items.map((item) => item.receipt_handle),
          });
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    expect(seen).toHaveLength(200);
    for (let g = 0; g < 7; g += 1) {
      const order = seen.filter(({ group }) => group === `g${g}`).map(({ n }) => n);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }
    expect(await bench.counts('many.fifo')).toEqual([0, 0, 0, 0]);
  });
});

describe('deduplication', () => {
  test('a batch of known ids whose messages make more than 8 MiB is refused, and nothing comes of it', async () => {
    await bench.create('large.fifo', { type: 'fifo' });
    const text = 'x'.repeat(200_000);
    const ids = Array.from({ length: 45 }, (_, n) => `d${n}`);
    for (const id of ids) await bench.publish('large.fifo', { text }, { deduplication_id: id });
    const again = (some: readonly string[]) =>
      bench.call('POST', '/v1/queue/batch/publish', {
        queue: 'large.fifo',
        items: some.map((id) => ({ payload: {}, deduplication_id: id })),
      });
    await bench.costing(0, {}, async () => {
      const refused = await again(ids);
      expect([refused.status, refused.body.error]).toMatchObject([400, { code: 'MESSAGE_TOO_LARGE', param: 'items' }]);
      expect((await again(ids.slice(0, 40))).status).toBe(200);
    });
  });

  test('a duplicate answers the first record, stores nothing and costs nothing, for 5 minutes from the first', async () => {
    await bench.create('dup.fifo', { type: 'fifo' });
    const first = await bench.costing(1, {}, () => bench.publish('dup.fifo', { n: 1 }, { deduplication_id: 'd' }));
    await bench.advance(200);
    await bench.costing(0, {}, async () => {
      const body = { queue: 'dup.fifo', payload: { n: 2 }, deduplication_id: 'd' };
      const reply = await bench.call('POST', '/v1/queue/publish', body);
      expect(reply.body.data).toEqual(first);
      expect(reply.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    });
    expect(await bench.counts('dup.fifo')).toEqual([1, 0, 0, 0]);
    await bench.advance(101);
    await bench.costing(1, {}, () => bench.publish('dup.fifo', { n: 3 }, { deduplication_id: 'd' }));
    expect(await bench.counts('dup.fifo')).toEqual([2, 0, 0, 0]);
  });

  test.each([
    ['a single message', 1, 10],
    ['a batch above 256 KiB', 4, 90_000],
  ])('its answer is kept under its idempotency key, beyond the 5 minutes: %s', async (_what, count, size) => {
    const queue = `kept-${count}.fifo`;
    await bench.create(queue, { type: 'fifo' });
    const text = 'x'.repeat(size);
    const items = Array.from({ length: count }, (_, n) => ({ payload: { n, text }, deduplication_id: `d${n}` }));
    const publish = (idempotency_key?: string) =>
      count === 1
        ? bench.call('POST', '/v1/queue/publish', { queue, ...items[0], idempotency_key })
        : bench.call('POST', '/v1/queue/batch/publish', { queue, items, idempotency_key });
    const { data } = (await bench.costing(count, {}, () => publish())).body;
    await bench.costing(0, {}, () => publish('k'));
    await bench.advance(301);
    await bench.costing(0, {}, async () => {
      const { body } = await publish('k');
      expect(body).toMatchObject({ data, metadata: { idempotent_replay: true, cost_usd: 0 } });
    });
    expect(await bench.counts(queue)).toEqual([count, 0, 0, 0]);
    await bench.costing(count, {}, () => publish('another'));
  });

  test('it survives ack, purge and the dead-letter queue, and is per queue', async () => {
    await bench.createWithDlq('survive.fifo', { type: 'fifo', max_retries: 1 });
    await bench.create('other.fifo', { type: 'fifo' });
    const again = (queue: string, id: string) => bench.publish(queue, {}, { deduplication_id: id });
    const ids = ['acked', 'purged', 'dead'];
    const records: unknown[] = [];
    for (const id of ids) records.push(await again('survive.fifo', id));
    const [acked] = await bench.consume('survive.fifo', { max_messages: 1 });
    await bench.ack('survive.fifo', acked.receipt_handle);
    const [, dead] = await bench.consume('survive.fifo', { max_messages: 2 });
    await bench.nack('survive.fifo', dead.receipt_handle);
    await bench.ok('POST', '/v1/queue/purge/survive.fifo', {});
    await bench.costing(0, {}, async () => {
      for (const [i, id] of ids.entries()) expect(await again('survive.fifo', id)).toEqual(records[i]);
    });
    await bench.costing(1, {}, () => again('other.fifo', 'acked'));
    expect(await bench.counts('survive.fifo')).toEqual([0, 0, 0, 1]);
  });

  test.each([
    ['small', 10],
    ['above 256 KiB', 90_000],
  ])('a batch with duplicates (%s) costs its new messages only', async (name, size) => {
    const queue = `batch-${size}.fifo`;
    await bench.create(queue, { type: 'fifo' });
    const text = 'x'.repeat(size);
    const of = (n: number, id?: string) => ({
      payload: { n, text },
      ...(id === undefined ? {} : { deduplication_id: id }),
    });
    const first = await bench.costing(1, {}, () => bench.publish(queue, { n: -1 }, { deduplication_id: 'a' }));
    const { items } = await bench.costing(2, {}, () =>
      bench.batch(queue, [of(0, 'a'), of(1, 'b'), of(2, 'b'), of(3), of(4, 'a')]),
    );
    expect(items.map((item: { payload: { n: number } }) => item.payload.n)).toEqual([-1, 1, 1, 3, -1]);
    expect(items[0]).toEqual(first);
    expect(await bench.counts(queue)).toEqual([3, 0, 0, 0]);
    const only = [of(0, 'a'), of(1, 'b'), of(1, 'a'), of(1, 'b')];
    const replay = await bench.costing(0, {}, () =>
      bench.call('POST', '/v1/queue/batch/publish', { queue, items: only }),
    );
    expect(replay.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    expect(name).not.toBe('');
  });

  test('of duplicates sent at once, large batches among them, exactly one is stored and paid', async () => {
    await bench.create('race.fifo', { type: 'fifo' });
    const text = 'x'.repeat(90_000);
    for (let round = 0; round < 5; round += 1) {
      const ids = ['p', 'q', 'r', 's'].map((id) => `${id}${round}`);
      const before = await bench.books();
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          bench.call('POST', '/v1/queue/batch/publish', {
            queue: 'race.fifo',
            items: ids.map((id) => ({ payload: i % 2 === 0 ? { i, text } : { i }, deduplication_id: id })),
          }),
        ),
      );
      const firstIds = replies.map((reply) =>
        reply.body.data?.items.map((item: { message_id: string }) => item.message_id).join(),
      );
      expect(new Set(firstIds).size, replies.map((reply) => reply.status).join()).toBe(1);
      const after = await bench.books();
      expect(after.spentNanos - before.spentNanos).toBe(80_000n);
      expect((await bench.stats('race.fifo')).message_count).toBe(4 * (round + 1));
    }
  });

  test('a queue made anew under the name remembers nothing', async () => {
    await bench.create('anew.fifo', { type: 'fifo' });
    await bench.publish('anew.fifo', {}, { deduplication_id: 'd' });
    await bench.ok('DELETE', '/v1/queue/delete/anew.fifo');
    await bench.create('anew.fifo', { type: 'fifo' });
    await bench.costing(1, {}, () => bench.publish('anew.fifo', {}, { deduplication_id: 'd' }));
  });
});
