// wait_seconds: a waiting consumer is woken by whatever makes messages available.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { Waiters } from '../../src/modules/queue/consume/waiting.ts';
import { queueKey } from '../../src/modules/queue/state.ts';
import { client } from '../support/service.ts';
import { QueueBench } from './harness.ts';

const wait = vi.spyOn(Waiters.prototype, 'wait');
/** Wakes by an operation; a look at all queues wakes by `wakeHere` alone. */
const wake = vi.spyOn(Waiters.prototype, 'wake');
const wakeHere = vi.spyOn(Waiters.prototype, 'wakeHere');

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
beforeEach(() => {
  for (const spy of [wait, wake, wakeHere]) spy.mockClear();
});
afterAll(async () => {
  for (const spy of [wait, wake, wakeHere]) spy.mockRestore();
  await bench.stop();
});

const callsOf = (spy: typeof wait | typeof wake | typeof wakeHere, queue: string) =>
  spy.mock.calls.filter(([key]) => key === queueKey(bench.account.accountId, queue));

/** Until so many consumers have begun to wait for messages of the queue. */
const consumersWait = (queue: string, count = 1) =>
  expect.poll(() => callsOf(wait, queue).length, { interval: 5 }).toBe(count);

/** Waits for a message while `work` happens, and answers what came once the consumer was woken, and by whom. */
async function whileWaiting(queue: string, work: () => Promise<unknown>) {
  const waiting = bench.consume(queue, { wait_seconds: 20 });
  await consumersWait(queue);
  await work();
  const items = await waiting;
  expect(callsOf(wait, queue)).toHaveLength(1);
  // No consumer that had waited to its end was woken.
  expect(callsOf(wakeHere, queue)).not.toEqual([]);
  return { items, byWork: callsOf(wake, queue).length > 0 };
}

test('an empty queue answers an empty list after wait_seconds, and at once without', async () => {
  await bench.create('empty');
  expect(await bench.consume('empty', { wait_seconds: 0 })).toEqual([]);
  expect(callsOf(wait, 'empty')).toEqual([]);
  const startedAt = performance.now();
  expect(await bench.consume('empty', { wait_seconds: 1 })).toEqual([]);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(950);
  const waits = callsOf(wait, 'empty').map(([, timeoutMs]) => Number(timeoutMs));
  expect(waits.every((timeoutMs) => timeoutMs <= 1_000)).toBe(true);
  // A timer may end a fraction of a millisecond before its time, which is then waited for.
  expect(waits.filter((timeoutMs) => timeoutMs > 5)).toHaveLength(1);
});

test('a publish wakes it at once', async () => {
  await bench.create('woken');
  const { items, byWork } = await whileWaiting('woken', () => bench.publish('woken', { n: 1 }));
  expect(items).toMatchObject([{ payload: { n: 1 } }]);
  expect(byWork).toBe(true);
});

test('a nack wakes it at once', async () => {
  await bench.create('nacked');
  await bench.publish('nacked');
  const [item] = await bench.consume('nacked');
  const { items, byWork } = await whileWaiting('nacked', () => bench.nack('nacked', item.receipt_handle));
  expect(items).toMatchObject([{ message_id: item.message_id, delivery_count: 2 }]);
  expect(byWork).toBe(true);
});

test('an ack that frees a FIFO group wakes it at once', async () => {
  await bench.create('freed', { type: 'fifo' });
  await bench.batch('freed', [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
  const [item] = await bench.consume('freed', { max_messages: 1 });
  const { items, byWork } = await whileWaiting('freed', () => bench.ack('freed', item.receipt_handle));
  expect(items).toMatchObject([{ payload: { n: 2 } }]);
  expect(byWork).toBe(true);
});

test('it finds a message whose delay has passed', async () => {
  await bench.create('delayed');
  await bench.publish('delayed', {}, { delay_seconds: 60 });
  const { items } = await whileWaiting('delayed', () => bench.advance(61));
  expect(items).toHaveLength(1);
});

test('it finds a message whose lease has ended', async () => {
  await bench.create('lapsed');
  await bench.publish('lapsed');
  await bench.consume('lapsed', { visibility_timeout: 60 });
  const { items } = await whileWaiting('lapsed', () => bench.advance(61));
  expect(items).toMatchObject([{ delivery_count: 2 }]);
});

test('it finds a redriven message', async () => {
  await bench.createWithDlq('redriven', { max_retries: 1 });
  await bench.publish('redriven');
  const [item] = await bench.consume('redriven');
  await bench.nack('redriven', item.receipt_handle);
  const { items, byWork } = await whileWaiting('redriven', () => bench.redrive('redriven'));
  expect(items).toHaveLength(1);
  expect(byWork).toBe(true);
});

test('a queue deleted meanwhile is 404', async () => {
  await bench.create('vanishing');
  const waiting = bench.fails('POST', '/v1/queue/consume', { queue: 'vanishing', wait_seconds: 20 });
  await consumersWait('vanishing');
  await bench.ok('DELETE', '/v1/queue/delete/vanishing');
  expect(await waiting).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
});

test('one message for many who wait goes to exactly one of them', async () => {
  await bench.create('contended');
  const waiting = Array.from({ length: 10 }, () => bench.consume('contended', { max_messages: 1, wait_seconds: 20 }));
  await consumersWait('contended', 10);
  const { message_id: first } = await bench.publish('contended');
  expect(await Promise.race(waiting)).toMatchObject([{ message_id: first }]);
  // The others get those that come later.
  const { items: later } = await bench.batch(
    'contended',
    Array.from({ length: 9 }, () => ({ payload: {} })),
  );
  const idsOf = (items: readonly { message_id: string }[]) => items.map(({ message_id: id }) => id).sort();
  expect(idsOf((await Promise.all(waiting)).flat())).toEqual(idsOf([{ message_id: first }, ...later]));
});

test('a key that is narrowed while it waits gets nothing more', async () => {
  await bench.create('narrowed');
  const made = await bench.call('POST', '/v1/account/keys/create', { scopes: ['queue'] });
  const { key_id: id, key_secret: secret } = made.body.data;
  const waiting = client(bench.service.url, secret)('POST', '/v1/queue/consume', {
    queue: 'narrowed',
    wait_seconds: 20,
  });
  await consumersWait('narrowed');
  const update = await bench.call('PATCH', `/v1/account/keys/update/${id}`, { scopes: ['account:read'] });
  expect(update.status).toBe(200);
  await bench.publish('narrowed');
  expect((await waiting).body.error?.code).toBe('INSUFFICIENT_SCOPE');
  expect(await bench.counts('narrowed')).toEqual([1, 0, 0, 0]);
});

test('an account that is suspended while a consumer waits gets nothing more', async () => {
  const other = await bench.withAccount();
  await other.create('suspended');
  await other.publish('suspended', {}, { delay_seconds: 60 });
  const waiting = other.call('POST', '/v1/queue/consume', { queue: 'suspended', wait_seconds: 20 });
  const { accountId } = other.account;
  const key = queueKey(accountId, 'suspended');
  await expect.poll(() => wait.mock.calls.filter(([of]) => of === key).length, { interval: 5 }).toBe(1);
  const { core } = bench.service;
  await core.db.transaction((tx) => setSuspended(tx, accountId, true));
  await core.processes.keyDropInForce({ hereToo: true });
  await bench.advance(61);
  expect((await waiting).body.error?.code).toBe('ACCOUNT_SUSPENDED');
});
