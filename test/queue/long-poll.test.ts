// wait_seconds: a waiting consumer hears of messages whatever makes them available, within about a second.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

/** Waits for a message while `work` happens, and answers what came and how long after `work` was done. */
async function whileWaiting(queue: string, work: () => Promise<unknown>) {
  const waiting = bench.consume(queue, { wait_seconds: 20 });
  await sleep(300);
  await work();
  const doneAt = performance.now();
  return { items: await waiting, afterMs: performance.now() - doneAt };
}

test('an empty queue answers an empty list after wait_seconds, and at once without', async () => {
  await bench.create('empty');
  for (const [seconds, fromMs, toMs] of [
    [0, 0, 500],
    [1, 950, 2_000],
  ] as const) {
    const startedAt = performance.now();
    expect(await bench.consume('empty', { wait_seconds: seconds })).toEqual([]);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(fromMs);
    expect(tookMs).toBeLessThan(toMs);
  }
});

test('a publish wakes it at once', async () => {
  await bench.create('woken');
  const { items, afterMs } = await whileWaiting('woken', () => bench.publish('woken', { n: 1 }));
  expect(items).toMatchObject([{ payload: { n: 1 } }]);
  expect(afterMs).toBeLessThan(allowedMs(500));
});

test('a nack wakes it at once', async () => {
  await bench.create('nacked');
  await bench.publish('nacked');
  const [item] = await bench.consume('nacked');
  const { items, afterMs } = await whileWaiting('nacked', () => bench.nack('nacked', item.receipt_handle));
  expect(items).toMatchObject([{ message_id: item.message_id, delivery_count: 2 }]);
  expect(afterMs).toBeLessThan(allowedMs(500));
});

test('an ack that frees a FIFO group wakes it at once', async () => {
  await bench.create('freed', { type: 'fifo' });
  await bench.batch('freed', [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
  const [item] = await bench.consume('freed', { max_messages: 1 });
  const { items, afterMs } = await whileWaiting('freed', () => bench.ack('freed', item.receipt_handle));
  expect(items).toMatchObject([{ payload: { n: 2 } }]);
  expect(afterMs).toBeLessThan(allowedMs(500));
});

test('it finds a message whose delay has passed', async () => {
  await bench.create('delayed');
  await bench.publish('delayed', {}, { delay_seconds: 60 });
  const { items, afterMs } = await whileWaiting('delayed', () => bench.advance(61));
  expect(items).toHaveLength(1);
  expect(afterMs).toBeLessThan(allowedMs(1_800));
});

test('it finds a message whose lease has ended', async () => {
  await bench.create('lapsed');
  await bench.publish('lapsed');
  await bench.consume('lapsed', { visibility_timeout: 60 });
  const { items, afterMs } = await whileWaiting('lapsed', () => bench.advance(61));
  expect(items).toMatchObject([{ delivery_count: 2 }]);
  expect(afterMs).toBeLessThan(allowedMs(1_800));
});

test('it finds a redriven message', async () => {
  await bench.createWithDlq('redriven', { max_retries: 1 });
  await bench.publish('redriven');
  const [item] = await bench.consume('redriven');
  await bench.nack('redriven', item.receipt_handle);
  const { items, afterMs } = await whileWaiting('redriven', () => bench.redrive('redriven'));
  expect(items).toHaveLength(1);
  expect(afterMs).toBeLessThan(allowedMs(500));
});

test('a queue deleted meanwhile is 404', async () => {
  await bench.create('vanishing');
  const waiting = bench.fails('POST', '/v1/queue/consume', { queue: 'vanishing', wait_seconds: 20 });
  await sleep(200);
  await bench.ok('DELETE', '/v1/queue/delete/vanishing');
  expect(await waiting).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
});

test('one message for many who wait goes to exactly one of them', async () => {
  await bench.create('contended');
  const waiting = Array.from({ length: 10 }, () => bench.consume('contended', { wait_seconds: 2 }));
  await sleep(200);
  await bench.publish('contended');
  expect((await Promise.all(waiting)).filter((items) => items.length > 0)).toHaveLength(1);
});

test('a key that is narrowed while it waits gets nothing more', async () => {
  await bench.create('narrowed');
  const made = await bench.call('POST', '/v1/account/keys/create', { scopes: ['queue'] });
  const { id, key_secret: secret } = made.body.data;
  const waiting = client(bench.service.url, secret)('POST', '/v1/queue/consume', {
    queue: 'narrowed',
    wait_seconds: 10,
  });
  await sleep(300);
  const update = await bench.call('PATCH', `/v1/account/keys/update/${id}`, { scopes: ['account:read'] });
  expect(update.status).toBe(200);
  await bench.publish('narrowed');
  expect((await waiting).body.error?.code).toBe('INSUFFICIENT_SCOPE');
  expect(await bench.counts('narrowed')).toEqual([1, 0, 0, 0]);
});
