// Order: priority, then available_at, then publish order. Delays.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

const numbers = async (queue: string) => (await bench.payloads(queue)).map(({ n }) => n);

describe('priority', () => {
  test('10 comes first, 0 last, equal ones in publish order', async () => {
    await bench.create('bands', { enable_priority: true });
    const priorities = [0, 5, 10, 5, 0, 10, 9, 1];
    await bench.batch(
      'bands',
      priorities.map((priority, n) => ({ payload: { n }, priority })),
    );
    expect((await bench.peek('bands')).map((item) => item.payload.n)).toEqual([2, 5, 6, 1, 3, 7, 0, 4]);
    expect(await numbers('bands')).toEqual([2, 5, 6, 1, 3, 7, 0, 4]);
  });

  test('without enable_priority it is kept but decides nothing', async () => {
    await bench.create('flat');
    await bench.batch('flat', [{ payload: { n: 0 } }, { payload: { n: 1 }, priority: 10 }]);
    expect(await bench.consume('flat')).toMatchObject([{ payload: { n: 0 } }, { payload: { n: 1 }, priority: 10 }]);
  });

  test('enabling affects messages published afterwards; disabling leaves those in their order', async () => {
    await bench.create('later');
    await bench.publish('later', { n: 0 }, { priority: 10 });
    await bench.update('later', { enable_priority: true });
    await bench.publish('later', { n: 1 }, { priority: 1 });
    await bench.publish('later', { n: 2 }, { priority: 9 });
    await bench.update('later', { enable_priority: false });
    await bench.publish('later', { n: 3 }, { priority: 10 });
    expect(await numbers('later')).toEqual([2, 1, 0, 3]);
  });

  test('a message of higher priority that was nacked goes before lower ones', async () => {
    await bench.create('kept', { enable_priority: true });
    await bench.batch('kept', [{ payload: { n: 0 }, priority: 9 }, { payload: { n: 1 } }]);
    const [high] = await bench.consume('kept', { max_messages: 1 });
    await bench.nack('kept', high.receipt_handle);
    expect(await numbers('kept')).toEqual([0, 1]);
  });

  test('a redriven message stands in the band of its priority', async () => {
    await bench.createWithDlq('again', { enable_priority: true, max_retries: 1 });
    await bench.publish('again', { n: 0 }, { priority: 10 });
    const [item] = await bench.consume('again');
    await bench.nack('again', item.receipt_handle);
    await bench.publish('again', { n: 1 }, { priority: 5 });
    await bench.redrive('again');
    expect(await numbers('again')).toEqual([0, 1]);
  });
});

describe('delay', () => {
  test('a delayed message is counted as delayed and delivered from available_at on', async () => {
    await bench.create('waits');
    const message = await bench.publish('waits', {}, { delay_seconds: 60 });
    expect(message.status).toBe('available');
    expect(Date.parse(message.available_at) - Date.parse(message.published_at)).toBe(60_000);
    expect(await bench.stats('waits')).toMatchObject({ message_count: 0, available_count: 0, delayed_count: 1 });
    expect(await bench.consume('waits')).toEqual([]);
    expect(await bench.peek('waits')).toEqual([]);
    await bench.advance(61);
    expect(await bench.counts('waits')).toEqual([1, 0, 0, 0]);
    expect(await bench.consume('waits')).toMatchObject([{ available_at: message.available_at }]);
  });

  test('absent, the delay of the queue counts; an explicit one wins, 0 included', async () => {
    await bench.create('slow', { delivery_delay_seconds: 100 });
    const messages = await bench.batch('slow', [
      { payload: {} },
      { payload: {}, delay_seconds: 0 },
      { payload: {}, delay_seconds: 0.5 },
    ]);
    const delays = messages.items.map(
      (one: { available_at: string; published_at: string }) =>
        Date.parse(one.available_at) - Date.parse(one.published_at),
    );
    expect(delays).toEqual([100_000, 0, 500]);
  });

  test('seven days are good, also to the second; not so in a queue that keeps messages for less', async () => {
    await bench.create('week');
    await bench.publish('week', {}, { delay_seconds: 604_800 });
    await bench.create('short', { message_retention_days: 7 });
    await bench.costing(0, {}, async () => {
      const error = await bench.fails('POST', '/v1/queue/publish', {
        queue: 'short',
        payload: {},
        delay_seconds: 604_800,
      });
      expect(error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'delay_seconds' });
    });
    await bench.publish('short', {}, { delay_seconds: 604_799 });
  });

  test('the order is by when a message became available, not by when it was published', async () => {
    await bench.create('mixed');
    await bench.publish('mixed', { n: 0 }, { delay_seconds: 50 });
    await bench.publish('mixed', { n: 1 }, { delay_seconds: 20 });
    await bench.advance(60);
    await bench.publish('mixed', { n: 2 });
    expect(await numbers('mixed')).toEqual([1, 0, 2]);
  });
});
