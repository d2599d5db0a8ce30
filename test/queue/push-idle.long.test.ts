// Subscriptions with nothing to push cost next to nothing, and do not slow down the one that has something.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findDueSubscriptions } from '../../src/modules/queue/push/work-store.ts';
import { until } from '../support/process.ts';
import { allowedMs } from '../support/slowness.ts';
import { PushBench } from './push-bench.ts';
import { type Receiver, startReceiver } from './push-receiver.ts';

const IDLE = 1_000;
let bench: PushBench;
let receiver: Receiver;
beforeAll(async () => {
  [bench, receiver] = await Promise.all([PushBench.begin(), startReceiver()]);
});
afterAll(async () => {
  await bench.stop();
  await receiver.stop();
});

function sql<R>(name: string, text: string, values: (string | number)[] = []) {
  return bench.service.core.db.query<R>({ name: `test_push_${name}`, text }, values);
}

/** Writes rows whose figures are reported at once, not within what is measured afterwards. */
function fill(name: string, text: string, values: (string | number)[]): Promise<void> {
  return bench.service.core.db.transaction(async (tx) => {
    await tx.query({ name: `test_push_${name}`, text }, values);
    await tx.query({ name: 'test_push_flush', text: 'SELECT pg_stat_force_next_flush()::text' }, []);
  });
}

/** Statements that this process sends in half a second: the median, as sweeps of other modules come in bursts. */
async function statements(): Promise<number> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  const counts: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    const before = sent.mock.calls.length;
    await sleep(500);
    counts.push(sent.mock.calls.length - before);
  }
  sent.mockRestore();
  return counts.toSorted((a, b) => a - b)[3] as number;
}

/** Rows of this module's tables written so far. */
async function written(): Promise<number> {
  // Sessions report their figures about once a second.
  await sleep(1_100);
  const text = `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::float8 AS writes FROM pg_stat_user_tables WHERE schemaname = 'queue'`;
  return (await sql<{ writes: number }>('stats', text)).rows[0]?.writes as number;
}

test(`${IDLE} idle subscriptions: no more than a few statements a second, no writes, and a message still comes at once`, {
  timeout: 60_000,
}, async () => {
  await bench.create('busy');
  await bench.create('another');
  const quiet = await statements();
  await bench.subscribe('busy', receiver);
  const { accountId } = bench.account;
  await fill(
    'queues',
    `INSERT INTO queue.queue SELECT account_id, 'idle-' || i, queue_id + i, type, message_retention_days, max_message_size_kb,
            visibility_timeout_default, delivery_delay_seconds, enable_priority, i % 2 = 0, dlq_id, former_dlq_ids, max_receive_count,
            paused, revision, created_at, updated_at
       FROM queue.queue, generate_series(1, $2::int) i WHERE account_id = $1 AND name = 'busy'`,
    [accountId, IDLE],
  );
  await fill(
    'subscriptions',
    `INSERT INTO queue.subscription (account_id, subscription_id, queue_id, url, secret, secret_last4, max_in_flight, created_at)
     SELECT account_id, 'sub_idle' || i, queue_id + i, url, secret, secret_last4, max_in_flight, created_at
       FROM queue.subscription, generate_series(1, $2::int) i WHERE account_id = $1`,
    [accountId, IDLE],
  );
  // The hint of another one makes the dispatcher read them all at once.
  await bench.subscribe('another', receiver);
  await sleep(500);
  const before = await written();
  // Loops that others held up send what they owe at once: again, then.
  await expect.poll(async () => (await statements()) - quiet).toBeLessThan(3);
  // A row each would be a thousand; a few of before may be reported late.
  expect((await written()) - before).toBeLessThan(10);
  const lookedMs: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const lookedAt = performance.now();
    expect(await findDueSubscriptions(bench.service.core.db.hot, 200)).toEqual([]);
    lookedMs.push(performance.now() - lookedAt);
  }
  expect(Math.min(...lookedMs)).toBeLessThan(allowedMs(250));
  const pushedMs: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await sleep(1_500);
    const publishedAt = performance.now();
    await bench.publish('busy', { n });
    await until(() => receiver.requests.length === n + 1);
    pushedMs.push((receiver.requests[n] as { atMs: number }).atMs - publishedAt);
  }
  // The best: this machine may be busy with other things. Looking would find it after half a second on average.
  expect(Math.min(...pushedMs)).toBeLessThan(allowedMs(500));
});
