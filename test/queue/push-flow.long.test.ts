// Pushing on several processes: how much is under way, who pushes, and when it ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPlace, startProcess, until } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { PRIVATE_TARGETS, PushBench, silent } from './push-bench.ts';
import { type Answerer, type Receiver, startReceiver } from './push-receiver.ts';

let receiver: Receiver;
let benches: PushBench[];
beforeEach(async () => {
  receiver = await startReceiver();
  benches = [];
});
afterEach(async () => {
  await receiver.stop();
  for (const bench of [...benches].reverse()) await bench.stop();
});

/** Services on one database, the first with calls. */
async function start(...roles: string[]): Promise<PushBench[]> {
  for (const ROLES of roles) {
    const [first] = benches;
    const shared = first === undefined ? {} : { database: first.service.database, account: first.account };
    benches.push(await PushBench.begin({ ...shared, env: { ROLES } }));
  }
  return benches;
}

const afterMs =
  (ms: number): Answerer =>
  async (_, response) => {
    await sleep(ms);
    response.end();
  };
const never: Answerer = () => undefined;

describe('at most max_in_flight requests at once', () => {
  test.each([
    ['one process', ['web,work,render'], 'standard'],
    ['two processes', ['web,work,render', 'web,work,render'], 'standard'],
    ['two processes, FIFO', ['web,work,render', 'web,work,render'], 'fifo'],
  ] as const)('%s', async (_, roles, type) => {
    const [bench] = (await start(...roles)) as [PushBench];
    receiver.answer(afterMs(40));
    await bench.create('slow', { type });
    const groups = (n: number) => (type === 'fifo' ? { message_group_id: `g${n % 30}` } : {});
    await bench.publishNumbers('slow', 200, groups);
    await bench.subscribe('slow', receiver);
    for (let n = 0; n < 20; n += 1) {
      await (benches[n % benches.length] as PushBench).publishNumbers('slow', 5, groups, 200 + n * 5);
      await sleep(20);
    }
    await bench.drained('slow');
    expect(receiver.openMost()).toBe(10);
    expect(receiver.requests).toHaveLength(300);
  });

  test('three, when three were asked for', async () => {
    const [bench] = (await start('web,work,render')) as [PushBench];
    receiver.answer(afterMs(20));
    await bench.create('narrow');
    await bench.subscribe('narrow', receiver, { max_in_flight: 3 });
    await bench.publishNumbers('narrow', 60);
    await bench.drained('narrow');
    expect(receiver.openMost()).toBe(3);
  });
});

test('receivers of one account that hang do not keep another account waiting', async () => {
  const [bench] = (await start('web,work,render')) as [PushBench];
  const hanging = await bench.another();
  const mute = await startReceiver();
  mute.answer(never);
  const queues = Array.from({ length: 60 }, (_, i) => `hung-${i}`);
  for (const queue of queues) {
    await hanging.create(queue);
    await hanging.publishNumbers(queue, 12);
    await hanging.subscribe(queue, mute);
  }
  await until(() => mute.open() >= 256);
  await sleep(500);
  expect(mute.open()).toBe(256);
  await bench.create('lively');
  await bench.subscribe('lively', receiver);
  const startedAt = performance.now();
  await bench.publishNumbers('lively', 100);
  await until(() => receiver.requests.length === 100);
  expect(performance.now() - startedAt).toBeLessThan(allowedMs(3_000));
  await mute.stop();
});

describe('unsubscribing under load', () => {
  test.each([
    ['on the process that pushes', ['web,work,render']],
    ['on another process', ['web,render', 'work,render']],
  ] as const)('%s: no request begins after the answer, and no message is lost', async (_, roles) => {
    const [bench] = (await start(...roles)) as [PushBench];
    await bench.create('loaded');
    for (let round = 0; round < 2; round += 1) {
      const before = receiver.requests.length;
      const { subscription_id } = await bench.subscribe('loaded', receiver);
      const publishing = bench.publishNumbers('loaded', 400, undefined, round * 1_000);
      await until(() => receiver.requests.length > before + 30);
      await bench.unsubscribe(subscription_id);
      const answeredAt = performance.now();
      await publishing;
      await sleep(1_500);
      // What was on its way has arrived within milliseconds.
      expect(receiver.requests.filter(({ atMs }) => atMs > answeredAt + 40)).toEqual([]);
    }
    await until(async () => (await bench.stats('loaded')).in_flight_count === 0);
    await bench.subscribe('loaded', receiver);
    await bench.drained('loaded', 25_000);
    expect(new Set(receiver.numbers()).size).toBe(800);
    // Taking back what was not sent is no delivery.
    const counts = receiver.requests.map(({ message }) => message.delivery_count);
    expect(Math.max(...counts)).toBe(1);
    expect(counts).toHaveLength(800);
  });
});

describe('a claim under way while the subscription ends', () => {
  test.each([
    ['on the process that pushes', ['web,work,render']],
    ['on another process', ['web,render', 'work,render']],
  ] as const)('%s: is taken back, unsent and uncounted', async (_, roles) => {
    const [bench] = (await start(...roles)) as [PushBench];
    await bench.create('caught', { type: 'fifo' });
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    receiver.answer(async (_pushed, response) => {
      await answered;
      response.end();
    });
    const { subscription_id } = await bench.subscribe('caught', receiver, { max_in_flight: 1 });
    await bench.publishNumbers('caught', 2, (n) => ({ message_group_id: `g${n}` }));
    await until(() => receiver.requests.length === 1);
    await bench.service.core.db.transaction(async (tx) => {
      // The next claim waits for its queue, after it has looked at the subscription.
      const text = 'SELECT 1 FROM queue.queue WHERE account_id = $1 FOR UPDATE';
      await tx.query({ name: 'test_push_hold_queue', text }, [bench.account.accountId]);
      answer();
      await sleep(300);
      await bench.unsubscribe(subscription_id);
    });
    expect(await silent(receiver, 1_500)).toBe(true);
    expect(receiver.numbers()).toEqual([0]);
    expect(await bench.counts('caught')).toEqual([1, 0, 0, 0]);
    expect(await bench.peek('caught')).toMatchObject([{ payload: { n: 1 }, delivery_count: 0 }]);
    expect(await bench.payloads('caught')).toEqual([{ n: 1 }]);
  });
});

test('a message published on another process is pushed within about a second', async () => {
  const [api] = (await start('web,render', 'work,render')) as [PushBench];
  await api.create('far');
  await api.subscribe('far', receiver);
  for (let n = 0; n < 2; n += 1) {
    await sleep(1_500);
    const publishedAt = performance.now();
    await api.publish('far', { n });
    await until(() => receiver.requests.length === n + 1);
    expect(performance.now() - publishedAt).toBeLessThan(allowedMs(2_500));
  }
});

test('a process that cannot renew its lease ends its requests before another one may begin', async () => {
  const [bench] = (await start('web,work,render', 'web,work,render')) as [PushBench];
  receiver.answer(never);
  await bench.create('stalled');
  await bench.subscribe('stalled', receiver);
  await bench.publishNumbers('stalled', 20);
  await until(() => receiver.open() === 10);
  await bench.service.core.db.transaction(async (tx) => {
    // Neither renewed nor taken over while this lasts.
    const text = 'SELECT 1 FROM queue.subscription WHERE account_id = $1 FOR UPDATE';
    await tx.query({ name: 'test_push_hold_lease', text }, [bench.account.accountId]);
    // Half of the 15 s after which the requests would have ended by themselves.
    await until(() => receiver.open() === 0, 7_500);
    receiver.answer(afterMs(0));
  });
  await bench.drained('stalled', 10_000);
  expect(new Set(receiver.numbers()).size).toBe(20);
  expect(receiver.openMost()).toBe(10);
});

test('a process that stops gives its messages back at once, and another one goes on', async () => {
  const [api, first] = (await start('web,render', 'work,render')) as [PushBench, PushBench];
  await api.create('handed');
  receiver.answer(never);
  await api.subscribe('handed', receiver);
  await api.publishNumbers('handed', 30);
  await until(() => receiver.open() === 10);
  await start('work,render');
  receiver.answer(afterMs(0));
  const stoppedAt = performance.now();
  benches.splice(benches.indexOf(first), 1);
  await first.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(allowedMs(9_000));
  await api.drained('handed', 5_000);
  const again = receiver.requests.filter(({ message }) => message.delivery_count === 2);
  expect(again.map(({ message }) => message.payload.n).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(receiver.requests).toHaveLength(40);
  expect(receiver.openMost()).toBe(10);
});

test('every message arrives although the pushing process is killed again and again', async () => {
  const [api] = (await start('web,render')) as [PushBench];
  const env = {
    ...PRIVATE_TARGETS,
    DATABASE_URL: api.service.database.url,
    SECRETS_KEY,
    TEST_CLOCK: 'on',
    ROLES: 'work,render',
  };
  const place = await createPlace(env);
  try {
    await api.create('survived');
    await api.subscribe('survived', receiver);
    await api.publishNumbers('survived', 300);
    const taken = new Set<number>();
    receiver.answer(async ({ message }, response) => {
      await sleep(10);
      response.end();
      taken.add(message.payload.n);
    });
    for (let kills = 0; kills < 2; kills += 1) {
      const child = await startProcess(place);
      const before = receiver.requests.length;
      await until(() => receiver.requests.length >= before + 40);
      await child.end('SIGKILL');
    }
    const last = await startProcess(place);
    await until(async () => (await api.stats('survived')).available_count === 0);
    // What the killed ones had claimed comes back when its leases end.
    await api.advance(301);
    await api.drained('survived', 25_000);
    expect(taken.size).toBe(300);
    expect(await silent(receiver, 500)).toBe(true);
    expect((await last.end('SIGTERM')).code).toBe(0);
  } finally {
    await place.remove();
  }
}, 90_000);
