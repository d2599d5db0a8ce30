// Subscriptions with nothing to push cost next to nothing, and do not slow down the one that has something.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDueSubscriptions } from '../../src/modules/queue/push/work-store.ts';
import { until } from '../support/process.ts';
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

/** Transactions a second on this database, and rows of its tables written a second, over some seconds. */
async function load(): Promise<{ commits: number; writes: number }> {
  const read = async () => {
    // Not those of the catalogue: the day partitions of another module may be made meanwhile.
    const text = `SELECT xact_commit, (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables) AS writes
                    FROM pg_stat_database WHERE datname = current_database()`;
    const { rows } = await sql<{ xact_commit: bigint; writes: bigint }>('stats', text);
    return rows[0] as { xact_commit: bigint; writes: bigint };
  };
  // Sessions report their figures about once a second.
  await sleep(1_500);
  const [before, beganAt] = [await read(), performance.now()];
  await sleep(2_500);
  const after = await read();
  const seconds = (performance.now() - beganAt) / 1000;
  return {
    commits: Number(after.xact_commit - before.xact_commit) / seconds,
    writes: Number(after.writes - before.writes) / seconds,
  };
}

test(`${IDLE} idle subscriptions: no more than a few statements a second, no writes, and a message still comes at once`, {
  timeout: 60_000,
}, async () => {
  await bench.create('busy');
  await bench.create('another');
  const quiet = await load();
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
  const idle = await load();
  expect(idle.commits - quiet.commits).toBeLessThan(5);
  expect(idle.writes - quiet.writes).toBeLessThan(5);
  const lookedAt = performance.now();
  expect(await findDueSubscriptions(bench.service.core.db.hot, 200)).toEqual([]);
  expect(performance.now() - lookedAt).toBeLessThan(250);
  const pushedMs: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await sleep(1_500);
    const publishedAt = performance.now();
    await bench.publish('busy', { n });
    await until(() => receiver.requests.length === n + 1);
    pushedMs.push((receiver.requests[n] as { atMs: number }).atMs - publishedAt);
  }
  // The median: this machine may be busy with other things.
  expect(pushedMs.toSorted((a, b) => a - b)[1]).toBeLessThan(500);
});
