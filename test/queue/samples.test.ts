// Samples of queues: one a minute of each that holds messages or changed, read as steps.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { foldCounts } from '../../src/modules/queue/queues/counts.ts';
import { dropOldSamples, takeSamples } from '../../src/modules/queue/samples/take.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { QueueBench } from './harness.ts';

let bench: QueueBench;

beforeAll(async () => {
  // Nothing samples but the test.
  const service = await startTestService({ env: { ROLES: 'web,render' } });
  bench = new QueueBench(service, await createTestAccount(service.core));
});
afterAll(() => bench.stop());

const db = () => bench.service.core.db;

/** Moves the clock on by some minutes and samples the last one that ended. */
async function endMinute(minutes = 1): Promise<void> {
  const nowMs = await clockNow(db());
  await bench.advance(minutes * 60 + 20 - Math.floor((nowMs % 60_000) / 1_000));
  await takeSamples(db(), await clockNow(db()));
}

const at = async (minutesAgo: number) => new Date((await clockNow(db())) - minutesAgo * 60_000).toISOString();

async function steps(queue: string, minutes: number, count = minutes) {
  const answer = await bench.ok('GET', `/v1/queue/samples/${queue}?from=${await at(minutes)}`);
  return answer.items
    .slice(-count)
    .map((item: Record<string, number>) => [item.published, item.acknowledged, item.depth]);
}

test('each minute tells what was published and acknowledged in it, and how deep the queue was', async () => {
  await bench.create('busy');
  await endMinute();
  await bench.batch(
    'busy',
    [1, 2, 3, 4, 5].map((n) => ({ payload: { n } })),
  );
  await endMinute();
  const taken = await bench.consume('busy', { max_messages: 3 });
  for (const { receipt_handle } of taken) await bench.ack('busy', receipt_handle);
  await bench.publish('busy');
  await endMinute();
  expect(await steps('busy', 10, 3)).toEqual([
    [0, 0, 0],
    [5, 0, 5],
    [1, 3, 3],
  ]);
  const { items } = await bench.ok('GET', `/v1/queue/samples/busy?from=${await at(10)}`);
  expect(items.at(-1).oldest_message_age_seconds).toBeGreaterThanOrEqual(60);
  expect(items.at(-1).oldest_message_age_seconds).toBeLessThan(180);
});

test('a minute is sampled once, and a queue at rest and empty not at all', async () => {
  await bench.create('once');
  await bench.publish('once');
  await endMinute();
  const nowMs = await clockNow(db());
  await Promise.all([takeSamples(db(), nowMs), takeSamples(db(), nowMs), takeSamples(db(), nowMs)]);
  expect(await rows('once')).toBe(1);
  await bench.ok('POST', '/v1/queue/purge/once', {});
  for (let n = 0; n < 3; n += 1) await endMinute();
  // The minute of the purge is told, those after it are not written.
  expect(await rows('once')).toBe(2);
  expect(await steps('once', 10, 4)).toEqual([
    [1, 0, 1],
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ]);
});

test('what is folded and what is not yet is counted alike', async () => {
  await bench.create('folded');
  for (let n = 0; n < 3; n += 1) await bench.publish('folded', { n });
  await foldCounts(db(), bench.account.accountId, await idOf('folded'));
  for (let n = 0; n < 4; n += 1) await bench.publish('folded', { n });
  await endMinute();
  expect(await steps('folded', 5, 1)).toEqual([[7, 0, 7]]);
});

test('while the service sampled nothing, a queue with messages is unknown, not empty', async () => {
  await bench.create('unknown');
  await bench.publish('unknown');
  await endMinute();
  await bench.publish('unknown');
  await endMinute(4);
  const told = await steps('unknown', 10, 5);
  expect(told[0]).toEqual([1, 0, 1]);
  expect(told.slice(1, 4)).toEqual([
    [null, null, null],
    [null, null, null],
    [null, null, null],
  ]);
  expect(told[4]).toEqual([1, 0, 2]);
});

test('longer periods have longer steps, at most 400 of them, within the days that are kept', async () => {
  const length = async (minutes: number) => {
    const { step_seconds, items } = await bench.ok('GET', `/v1/queue/samples/busy?from=${await at(minutes)}`);
    return [step_seconds, items.length];
  };
  expect(await length(300)).toEqual([60, expect.closeTo(300, -1)]);
  expect(await length(24 * 60)).toEqual([300, expect.closeTo(288, -1)]);
  expect(await length(30 * 24 * 60)).toEqual([1_800, expect.closeTo(336, -1)]);
  const error = await bench.fails('GET', `/v1/queue/samples/busy?from=${await at(1)}&to=${await at(2)}`);
  expect(error).toMatchObject({ code: 'INVALID_REQUEST', param: 'from' });
});

test('days past the retention are dropped whole', async () => {
  const before = await rows('busy');
  expect(before).toBeGreaterThan(0);
  const nowMs = await clockNow(db());
  while (await dropOldSamples(db(), nowMs + 6 * 86_400_000)) {
    // a day each time
  }
  expect(await rows('busy')).toBe(before);
  while (await dropOldSamples(db(), nowMs + 9 * 86_400_000)) {
    // a day each time
  }
  expect(await rows('busy')).toBe(0);
});

async function idOf(queue: string): Promise<bigint> {
  const found = await db().query<{ queue_id: bigint }>(
    { name: 'test_queue_id', text: 'SELECT queue_id FROM queue.queue WHERE account_id = $1 AND name = $2' },
    [bench.account.accountId, queue],
  );
  return found.rows[0]?.queue_id ?? expect.fail(`there is no queue ${queue}`);
}

async function rows(queue: string): Promise<number> {
  const found = await db().query<{ rows: number }>(
    {
      name: 'test_sample_rows',
      text: `SELECT count(*)::int AS rows FROM queue.sample s JOIN queue.queue q ON q.account_id = s.account_id AND q.queue_id = s.queue_id
              WHERE s.account_id = $1 AND q.account_id = $1 AND q.name = $2`,
    },
    [bench.account.accountId, queue],
  );
  return found.rows[0]?.rows ?? 0;
}
