// Consumers that wait cost next to nothing, however many queues they wait for, and still hear of every message.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../src/kit/services.ts';
import { createQueueState } from '../../src/modules/queue/start.ts';
import type { QueueState } from '../../src/modules/queue/state.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { inProcess, type QueueCall } from './in-process.ts';

const QUEUES = 300;
let service: TestService;
/** Two of them on one database, as on two processes: neither hears of what the other publishes. */
let here: QueueState;
let elsewhere: QueueState;
let call: QueueCall;
let callElsewhere: QueueCall;
let asked = 0;

const ASKING = new Set<string | symbol>(['query', 'transaction', 'pipelined', 'again', 'find']);

/** The same object; calls that ask the database, or may, are counted. */
function counted<T extends object>(real: T): T {
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === 'hot') return counted(value as object);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (ASKING.has(name)) asked += 1;
        return value.apply(target, args);
      };
    },
  });
}

beforeAll(async () => {
  service = await startTestService({ env: { ROLES: 'web,render' } });
  const { secret } = await createTestAccount(service.core);
  const core: Services = { ...service.core, db: counted(service.core.db), keys: counted(service.core.keys) };
  here = createQueueState(core);
  elsewhere = createQueueState(service.core);
  call = await inProcess(core, secret, here);
  callElsewhere = await inProcess(service.core, secret, elsewhere);
});
afterAll(async () => {
  for (const state of [here, elsewhere]) state.waiters.stop();
  await service.stop();
});

const waitingHere = () => here.waiters.waiting().reduce((sum, { count }) => sum + count, 0);

async function asksPerSecond(): Promise<number> {
  const [before, beganAt] = [asked, performance.now()];
  await sleep(1_000);
  return ((asked - before) * 1_000) / (performance.now() - beganAt);
}

test(`${QUEUES} waiting queues share one statement, and each hears of its message`, { timeout: 60_000 }, async () => {
  const names = Array.from({ length: QUEUES }, (_, n) => `idle-${n}`);
  await Promise.all(
    names.map((name, n) =>
      n % 2 === 1 ? call('create', { name, type: 'fifo' }) : call('create', { name, enable_priority: n % 4 === 0 }),
    ),
  );
  const waiting = names.map((queue) => call('consume', { queue, wait_seconds: 20 }));
  await expect.poll(waitingHere).toBe(QUEUES);
  const perSecond = await asksPerSecond();
  expect(perSecond).toBeGreaterThan(0);
  expect(perSecond).toBeLessThan(6);
  const publishedAt = performance.now();
  await Promise.all(
    names.map((queue, n) =>
      callElsewhere('publish', { queue, payload: { n }, ...(n % 4 === 0 ? { priority: n % 11 } : {}) }),
    ),
  );
  const heard = await Promise.all(waiting);
  expect(performance.now() - publishedAt).toBeLessThan(allowedMs(10_000));
  expect(heard.map(({ items }) => items.map((item: { payload: { n: number } }) => item.payload.n))).toEqual(
    names.map((_, n) => [n]),
  );
  expect(waitingHere()).toBe(0);
  await sleep(300);
  expect(await asksPerSecond()).toBe(0);
});

test('who waits for a queue that is deleted elsewhere is told', async () => {
  await call('create', { name: 'gone' });
  const waiting = Array.from({ length: 5 }, () =>
    call('consume', { queue: 'gone', wait_seconds: 20 }).catch((error) => error),
  );
  await expect.poll(waitingHere).toBe(5);
  await callElsewhere('delete', { queue: 'gone' });
  for (const told of await Promise.all(waiting)) expect(told).toMatchObject({ code: 'QUEUE_NOT_FOUND' });
});

test('who waits for a queue that is made anew elsewhere, of another type, gets its messages', async () => {
  await call('create', { name: 'anew' });
  const waiting = call('consume', { queue: 'anew', wait_seconds: 20 });
  await expect.poll(waitingHere).toBe(1);
  await service.core.db.transaction(async (tx) => {
    const text = `UPDATE queue.queue SET type = 'fifo', queue_id = queue_id + 1, revision = revision + 1 WHERE name = 'anew'`;
    await tx.query({ name: 'test_anew', text }, []);
  });
  await callElsewhere('publish', { queue: 'anew', payload: { n: 1 } });
  expect(await waiting).toMatchObject({ items: [{ payload: { n: 1 } }] });
});

test('messages go to as many as there are, and no one waits longer than asked', async () => {
  await call('create', { name: 'shared' });
  const waiting = Array.from({ length: 4 }, () => call('consume', { queue: 'shared', wait_seconds: 3 }));
  await expect.poll(waitingHere).toBe(4);
  const beganAt = performance.now();
  await callElsewhere('batch.publish', { queue: 'shared', items: [{ payload: { n: 1 } }, { payload: { n: 2 } }] });
  const counts = (await Promise.all(waiting)).map(({ items }) => items.length);
  expect(counts.sort()).toEqual([0, 0, 1, 1]);
  expect(performance.now() - beganAt).toBeLessThan(allowedMs(6_000));
});

test('more queues than one statement takes are looked at by several, and all are found', async () => {
  // Of queues that are not there: who waits for them is woken.
  const { signal } = new AbortController();
  const waiting = Array.from({ length: 1_100 }, (_, n) => here.waiters.wait(`acct_none\nqueue-${n}`, 20_000, signal));
  const [before, beganAt] = [asked, performance.now()];
  await Promise.all(waiting);
  expect(performance.now() - beganAt).toBeLessThan(allowedMs(10_000));
  expect(asked - before).toBe(2);
});
