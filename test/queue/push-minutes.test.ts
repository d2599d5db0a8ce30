// Push to receivers that take minutes: within the bound of the account, with leases that outlast them, and in the way of nobody else.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/process.ts';
import { PushBench } from './push-bench.ts';
import { type Receiver, startReceiver, status } from './push-receiver.ts';

let bench: PushBench;
let receiver: Receiver;
beforeAll(async () => {
  [bench, receiver] = await Promise.all([PushBench.begin(), startReceiver()]);
});
afterAll(async () => {
  await receiver.stop();
  await bench.stop();
});

test('a message that is being answered is leased beyond its timeout, and an answer after 15 s acknowledges it', async () => {
  const own = await bench.another();
  await own.create('minutes');
  await own.subscribe('minutes', receiver, { timeout_seconds: 900 });
  let answer = () => undefined as unknown;
  receiver.answer((_, response) => {
    answer = () => response.end();
  });
  const before = receiver.requests.length;
  await own.publishNumbers('minutes', 1);
  await until(async () => receiver.requests.length > before);
  expect(await own.dueInSeconds()).toBeGreaterThan(900);
  answer();
  await own.drained('minutes');
});

test('an account has 20 such requests at once, whatever its subscriptions; other accounts and its short ones go on', async () => {
  const [own, other] = [await bench.another(), await bench.another()];
  const silent = await startReceiver();
  const waiting: ServerResponse[] = [];
  silent.answer((_, response) => void waiting.push(response));
  for (const queue of ['long-a', 'long-b', 'long-c', 'long-d']) {
    await own.create(queue);
    await own.subscribe(queue, silent, { timeout_seconds: 600 });
    await own.publishNumbers(queue, 10);
  }
  await until(async () => silent.open() === 20);
  receiver.answer(status(200));
  for (const [each, queue, fields] of [
    [own, 'short', {}],
    [other, 'short', {}],
    [other, 'long', { timeout_seconds: 900 }],
  ] as const) {
    await each.create(queue);
    await each.subscribe(queue, receiver, fields);
    await each.publishNumbers(queue, 30);
    await each.drained(queue);
  }
  expect([silent.open(), silent.openMost()]).toEqual([20, 20]);
  // Those that are answered make room for those that waited, each of which comes once.
  silent.answer(status(200));
  for (const response of waiting) response.end();
  for (const queue of ['long-a', 'long-b', 'long-c', 'long-d']) await own.drained(queue);
  expect(silent.requests).toHaveLength(40);
  await silent.stop();
});
