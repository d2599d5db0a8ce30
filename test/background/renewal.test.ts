// The lease of a job that takes long is renewed while it runs; a job that was lost all the same stops, and is not put back.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { JobLoop } from '../../src/core/background/job-loop.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { advanceTestClock, switchTestClock } from '../../src/core/process/test-clock.ts';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';
import { addChores, CHORE_TABLE, choreLoop } from './chores.ts';

const LEASE_SECONDS = 60;
const leaseMs = LEASE_SECONDS * 1_000;

let database: TestDatabase;
let db: Database;
let other: Database;
const loops: JobLoop[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.connection, (client) => client.query(CHORE_TABLE));
  db = new Database({ connection: database.connection });
  other = new Database({ connection: database.connection });
  await switchTestClock(db, true);
});
afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())));
afterAll(async () => {
  await Promise.all([db.end(), other.end()]);
  await database.drop();
});

function started(...args: Parameters<typeof choreLoop>): JobLoop {
  const loop = choreLoop(...args);
  loops.push(loop);
  loop.start();
  return loop;
}

async function chore(accountId: string) {
  const text = 'SELECT attempt, done_by, due_at FROM test.chore WHERE account_id = $1';
  return (
    await db.query<{ attempt: number; done_by: string | null; due_at: number | null }>({ name: 'test_chore', text }, [
      accountId,
    ])
  ).rows[0];
}

test('a job that takes many leases is begun once', async () => {
  const gate = Promise.withResolvers<void>();
  let renewals = 0;
  const ran: string[] = [];
  const work = (by: string) => async () => {
    ran.push(by);
    await gate.promise;
  };
  const options = {
    leaseMs,
    renewed() {
      renewals += 1;
    },
  };
  started(db, 'one', work('one'), options);
  await addChores(db, 'acct_long', ['c0'], await clockNow(db));
  await until(() => ran.length === 1);
  started(other, 'two', work('two'), options);
  for (let part = 0; part < 6; part += 1) {
    await advanceTestClock(db, LEASE_SECONDS / 2);
    // The first may have been asked for before the clock moved.
    const after = renewals + 2;
    await until(() => renewals >= after);
  }
  gate.resolve();
  await until(async () => (await chore('acct_long'))?.due_at === null);
  expect(ran).toEqual(['one']);
  expect(await chore('acct_long')).toMatchObject({ attempt: 1, done_by: 'one' });
});

test('a job that another attempt has is told so: it stops, and neither counts as failed nor is put back', async () => {
  let isRunning = false;
  const heard: boolean[] = [];
  const loop = started(
    db,
    'one',
    async (_chore, signal, lost) => {
      isRunning = true;
      await new Promise((_, reject) => lost.addEventListener('abort', () => reject(lost.reason)));
      expect(signal.aborted).toBe(false);
    },
    { leaseMs, renewed: (isOurs) => void heard.push(isOurs) },
  );
  await addChores(db, 'acct_lost', ['c0'], await clockNow(db));
  await until(() => isRunning);
  const takeOver = {
    name: 'test_take_over',
    text: 'UPDATE test.chore SET attempt = attempt + 1 WHERE account_id = $1',
  };
  await db.query(takeOver, ['acct_lost']);
  await until(() => heard.includes(false));
  const metric = (name: string) => loop.metrics().find((each) => each.name === name)?.value;
  await until(() => metric('qm_jobs_running') === 0);
  expect([metric('qm_jobs_failures_total'), metric('qm_jobs_put_back_total')]).toEqual([0, 0]);
  expect(await chore('acct_lost')).toMatchObject({ attempt: 2, done_by: null });
});
