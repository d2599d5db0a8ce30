// FIFO groups with a message that keeps failing: what fails is counted, what only stood behind it is not.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let shared: QueueBench;
/** With an account of its own: what other tests left behind tells its events there. */
let bench: QueueBench;
beforeAll(async () => {
  shared = await QueueBench.start();
});
afterAll(() => shared.stop());
beforeEach(async () => {
  bench = await shared.withAccount();
});

/** A FIFO queue with a dead-letter queue and messages {n} of one group. */
async function filled(name: string, messages: number, settings: Record<string, unknown> = {}): Promise<void> {
  await bench.createWithDlq(name, { type: 'fifo', visibility_timeout_default: 30, ...settings });
  await bench.batch(
    name,
    Array.from({ length: messages }, (_, n) => ({ payload: { n } })),
  );
}

const deadNumbers = async (queue: string) => (await bench.dead(queue)).map((item) => item.payload.n);
/** A group whose lapsed leases are being returned just then is passed over, so it is waited for. */
const deliveries = async (queue: string) =>
  (await bench.consume(queue, { wait_seconds: 5 })).map((item) => [item.payload.n, item.delivery_count]);

describe('a poison message at the head', () => {
  test.each(['nacked', 'left until its lease ends'])(
    '%s: it alone is dead-lettered, the others are worked off in order',
    async (how) => {
      const queue = `poison-${how.slice(0, 4).trim()}.fifo`;
      await filled(queue, 4, { max_retries: 3 });
      const done: number[] = [];
      await bench.costing(0, { 'queue.dlq': 1 }, async () => {
        for (let round = 0; round < 8 && done.length < 3; round += 1) {
          for (const item of await bench.consume(queue)) {
            if (item.payload.n !== 0) {
              const { acked } = await bench.ack(queue, item.receipt_handle);
              if (acked) done.push(item.payload.n);
            } else if (how === 'nacked') await bench.nack(queue, item.receipt_handle);
            else await bench.advance(31);
          }
        }
      });
      expect(done).toEqual([1, 2, 3]);
      expect(await deadNumbers(queue)).toEqual([0]);
      expect(await bench.counts(queue)).toEqual([0, 0, 0, 1]);
    },
  );

  test('one that kills its consumers takes no neighbour along, however many limits it goes through', async () => {
    await filled('killer.fifo', 3, { max_retries: 1 });
    for (let round = 0; round < 3; round += 1) {
      expect((await deliveries('killer.fifo'))[0]).toEqual([round, 1]);
      await bench.advance(31);
      expect(await deadNumbers('killer.fifo')).toEqual(Array.from({ length: round + 1 }, (_, n) => n));
    }
  });
});

test('a delivery that an earlier message of the group took back is not counted', async () => {
  await filled('uncounted.fifo', 3, { max_retries: 5 });
  const [head] = await bench.consume('uncounted.fifo');
  await bench.nack('uncounted.fifo', head.receipt_handle);
  expect((await bench.peek('uncounted.fifo')).map((item) => item.delivery_count)).toEqual([1, 0, 0]);
  expect(await deliveries('uncounted.fifo')).toEqual([
    [0, 2],
    [1, 1],
    [2, 1],
  ]);
  await bench.advance(31);
  expect(await deliveries('uncounted.fifo')).toEqual([
    [0, 3],
    [1, 1],
    [2, 1],
  ]);
});

test('of several messages nacked in one call the first one of the group has failed', async () => {
  await filled('together.fifo', 3, { max_retries: 1 });
  const held = await bench.consume('together.fifo');
  const { items } = await bench.ok('POST', '/v1/queue/nack', {
    queue: 'together.fifo',
    receipts: held.map((item) => item.receipt_handle).reverse(),
  });
  expect(
    items.map((one: { ok: boolean; nacked: boolean; status: string; requeue: boolean; delivery_count: number }) => [
      one.ok && one.nacked,
      one.status,
      one.requeue,
      one.delivery_count,
    ]),
  ).toEqual([
    [true, 'available', true, 0],
    [true, 'available', true, 0],
    [true, 'dlq', false, 1],
  ]);
  expect(await deliveries('together.fifo')).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

test('what ended first is decided first, whenever it is looked at', async () => {
  for (const lookBetween of [true, false]) {
    const queue = `${lookBetween ? 'looked' : 'unseen'}.fifo`;
    await filled(queue, 3, { max_retries: 1 });
    const [first, second] = await bench.consume(queue);
    await bench.extend(queue, first.receipt_handle, 100);
    await bench.extend(queue, second.receipt_handle, 10);
    await bench.advance(20);
    if (lookBetween) await bench.stats(queue);
    await bench.advance(100);
    expect(await deadNumbers(queue)).toEqual([0, 1]);
    expect(await deliveries(queue)).toEqual([[2, 1]]);
  }
});

test('a limit lowered meanwhile holds for what comes back behind another', async () => {
  await filled('lowered.fifo', 2, { max_retries: 5 });
  for (const item of (await bench.consume('lowered.fifo')).reverse())
    await bench.nack('lowered.fifo', item.receipt_handle);
  const [head] = await bench.consume('lowered.fifo');
  await bench.update('lowered.fifo', { max_retries: 1 });
  await bench.costing(0, { 'queue.dlq': 2 }, () => bench.nack('lowered.fifo', head.receipt_handle));
  expect((await bench.dead('lowered.fifo')).map((item) => [item.payload.n, item.delivery_count])).toEqual([
    [0, 2],
    [1, 1],
  ]);
});

describe('requeue false', () => {
  test.each(['to the dead-letter queue', 'dropped'])(
    'of the head (%s) leaves the leases behind it as they are',
    async (where) => {
      const queue = `given-up-${where.slice(0, 2)}.fifo`;
      await filled(queue, 3);
      if (where === 'dropped') await bench.update(queue, { dead_letter_queue: null });
      const [head, second, third] = await bench.consume(queue);
      expect(await bench.nack(queue, head.receipt_handle, { requeue: false })).toMatchObject({
        nacked: true,
        requeue: false,
        status: where === 'dropped' ? 'deleted' : 'dlq',
      });
      expect(await bench.counts(queue)).toEqual([0, 2, 0, where === 'dropped' ? 0 : 1]);
      expect(await bench.consume(queue)).toEqual([]);
      expect(await bench.extend(queue, third.receipt_handle, 60)).toMatchObject({ extended: true });
      for (const item of [second, third])
        expect(await bench.ack(queue, item.receipt_handle)).toMatchObject({ acked: true });
    },
  );

  test('of one in the middle neither', async () => {
    await filled('middle.fifo', 3);
    const [head, second, third] = await bench.consume('middle.fifo');
    await bench.nack('middle.fifo', second.receipt_handle, { requeue: false });
    for (const item of [third, head])
      expect(await bench.ack('middle.fifo', item.receipt_handle)).toMatchObject({ acked: true });
    expect(await deadNumbers('middle.fifo')).toEqual([1]);
  });
});

describe.each(['standard', 'fifo'])('%s: the answer to a nack says what happened', (type) => {
  test('the last one of max_retries: requeue false, status dlq', async () => {
    const queue = `last-${type}`;
    await bench.createWithDlq(queue, { type, max_retries: 2 });
    await bench.publish(queue);
    for (const [requeue, status] of [
      [true, 'available'],
      [false, 'dlq'],
    ]) {
      const [item] = await bench.consume(queue);
      expect(await bench.nack(queue, item.receipt_handle)).toMatchObject({ nacked: true, requeue, status });
    }
  });
});
