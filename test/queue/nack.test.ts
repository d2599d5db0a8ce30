// nack and extend: giving messages back, keeping them longer.
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

describe('nack', () => {
  test('returns the message at once, or after delay_seconds', async () => {
    const queue = await filled(1);
    const [first] = await bench.consume(queue);
    const answer = await bench.costing(0, {}, () => bench.nack(queue, first.receipt_handle));
    expect(answer).toMatchObject({
      message_id: first.message_id,
      nacked: true,
      requeue: true,
      status: 'available',
      delivery_count: 1,
    });
    const [second] = await bench.consume(queue);
    expect(second).toMatchObject({ delivery_count: 2, available_at: answer.available_at });
    await bench.nack(queue, second.receipt_handle, { delay_seconds: 30 });
    expect(await bench.counts(queue)).toEqual([0, 0, 1, 0]);
    expect(await bench.consume(queue)).toEqual([]);
    await bench.advance(31);
    expect(await bench.consume(queue)).toMatchObject([{ delivery_count: 3 }]);
  });

  test('a nacked message goes behind those available before it', async () => {
    const queue = await filled(3);
    const [first] = await bench.consume(queue, { max_messages: 1 });
    await bench.nack(queue, first.receipt_handle);
    expect((await bench.payloads(queue)).map(({ n }) => n)).toEqual([1, 2, 0]);
  });

  test('requeue false drops the message when there is no dead-letter queue, without an event', async () => {
    const queue = await filled(1);
    const [item] = await bench.consume(queue);
    await bench.costing(0, {}, async () => {
      expect(await bench.nack(queue, item.receipt_handle, { requeue: false })).toMatchObject({
        nacked: true,
        status: 'deleted',
      });
    });
    expect(await bench.counts(queue)).toEqual([0, 0, 0, 0]);
  });

  test('without a dead-letter queue a message is redelivered however often it fails', async () => {
    const queue = await filled(1, { max_retries: 1 });
    for (let count = 1; count <= 6; count += 1) {
      const [item] = await bench.consume(queue);
      expect(item.delivery_count).toBe(count);
      await bench.nack(queue, item.receipt_handle);
    }
  });
});

describe('extend', () => {
  test('counts from now and may shorten', async () => {
    const queue = await filled(1, { visibility_timeout_default: 10 });
    const [item] = await bench.consume(queue);
    const { visibility_timeout_expires_at: end } = await bench.extend(queue, item.receipt_handle, 100);
    expect(Date.parse(end) - Date.parse(item.visibility_timeout_expires_at)).toBeGreaterThan(85_000);
    await bench.advance(50);
    expect(await bench.counts(queue)).toEqual([0, 1, 0, 0]);
    await bench.extend(queue, item.receipt_handle, 0);
    expect(await bench.counts(queue)).toEqual([1, 0, 0, 0]);
    expect(await bench.consume(queue)).toMatchObject([{ delivery_count: 2 }]);
  });
});
