// A kind of background work is a table and two functions (chores.ts). What it has from core/background for that: fair turns,
// takeover after a crash, retries with backoff, drain at the stop, metrics.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { JobLoop } from '../../src/core/background/job-loop.ts';
import { createLog } from '../../src/core/process/log.ts';
import type { Logger } from '../../src/core/process/logger.ts';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';
import { addChores, CHORE_TABLE, choreLoop, LEASE_MS } from './chores.ts';

interface Chore {
  readonly chore_id: string;
  readonly attempt: number;
  readonly done_by: string | null;
  readonly due_at: number | null;
}

let database: TestDatabase;
let db: Database;
const loops: JobLoop[] = [];
let accounts = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.connection, (client) => client.query(CHORE_TABLE));
  db = new Database({ connection: database.connection });
});
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  for (const table of ['test.chore', 'core.turn'])
    await db.query({ name: `test_empty_${table}`, text: `DELETE FROM ${table}` }, []);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

function started(...args: Parameters<typeof choreLoop>): JobLoop {
  const loop = choreLoop(...args);
  loops.push(loop);
  loop.start();
  return loop;
}

function newAccount(): string {
  accounts += 1;
  return `acct_${accounts}`;
}

async function chores(accountId: string): Promise<Chore[]> {
  const text = 'SELECT chore_id, attempt, done_by, due_at FROM test.chore WHERE account_id = $1 ORDER BY chore_id';
  return (await db.query<Chore>({ name: 'test_chores', text }, [accountId])).rows;
}

const isDone = async (accountId: string) => (await chores(accountId)).every(({ due_at }) => due_at === null);
/** All of the account: what is leased too, because its lease has ended. */
async function isDue(accountId: string): Promise<boolean> {
  const text = 'SELECT bool_and(due_at <= core.clock_now()) AS due FROM test.chore WHERE account_id = $1';
  const { rows } = await db.query<{ due: boolean }>({ name: 'test_due', text }, [accountId]);
  return rows[0]?.due === true;
}

const names = (count: number, prefix = 'c') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

function metricOf(loop: JobLoop, name: string): number | undefined {
  return loop.metrics().find((metric) => metric.name === name && metric.labels.jobs === 'test.chores')?.value;
}

test('everything due is run once, by two processes at a time', async () => {
  const owners = Array.from({ length: 5 }, newAccount);
  const ran: string[] = [];
  const other = new Database({ connection: database.connection });
  const work =
    (by: string) =>
    async ({ accountId, id }: { accountId: string; id: string }) =>
      void ran.push(`${by} ${accountId} ${id}`);
  started(db, 'one', work('one'));
  started(other, 'two', work('two'));
  for (const owner of owners) await addChores(db, owner, names(40), Date.now());
  await until(async () => (await Promise.all(owners.map(isDone))).every(Boolean));
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  await other.end();
  expect(ran).toHaveLength(200);
  expect(new Set(ran.map((line) => line.slice(4))).size).toBe(200);
  expect((await Promise.all(owners.map(chores))).flat().every(({ attempt }) => attempt === 1)).toBe(true);
});

test('nothing is run before it is due, and what is told while a claim is under way is not missed', async () => {
  const owner = newAccount();
  const ran: string[] = [];
  started(db, 'one', async ({ id }) => void ran.push(id));
  await addChores(db, owner, ['later'], Date.now() + 60_000);
  for (let round = 0; round < 50; round += 1) await addChores(db, owner, [`now${round}`], Date.now());
  await until(() => ran.length === 50);
  expect(ran).not.toContain('later');
});

test('an account with very much due, or with work that does not end, leaves places for a newcomer', async () => {
  const [many, hanging, newcomer] = [newAccount(), newAccount(), newAccount()];
  const ended = Promise.withResolvers<void>();
  const ran: string[] = [];
  const loop = started(db, 'one', async ({ accountId, id }, signal) => {
    ran.push(accountId);
    signal.addEventListener('abort', () => ended.resolve());
    if (accountId === hanging) await ended.promise;
    // sleeps: work that takes a while
    if (accountId === many) await sleep(20);
    if (id === 'newcomer') ended.resolve();
  });
  await addChores(db, hanging, names(1_000), Date.now());
  await addChores(db, many, names(1_000), Date.now());
  await until(() => ran.includes(many) && ran.includes(hanging));
  await addChores(db, newcomer, ['newcomer'], Date.now());
  await until(() => ran.includes(newcomer));
  // Every other account would still have had hundreds of turns before it.
  expect(ran.length).toBeLessThan(500);
  await loop.stop();
});

test('work of a killed process is taken over when its lease ends, and the dead attempt changes nothing any more', async () => {
  const owner = newAccount();
  const child = spawn(process.execPath, [`${import.meta.dirname}/chore-process.ts`, database.url]);
  await addChores(db, owner, ['c0'], Date.now());
  await once(child.stdout, 'data');
  const takenMs = performance.now();
  child.kill('SIGKILL');
  started(db, 'heir', async () => undefined);
  await until(() => isDone(owner));
  expect(performance.now() - takenMs).toBeGreaterThan(LEASE_MS - 500);
  expect(await chores(owner)).toEqual([{ chore_id: 'c0', attempt: 2, done_by: 'heir', due_at: null }]);
});

test('work whose process died is done alone, after what else its account has, and others go on beside none of it', async () => {
  const [owner, other] = [newAccount(), newAccount()];
  const child = spawn(process.execPath, [`${import.meta.dirname}/chore-process.ts`, database.url]);
  await addChores(db, owner, names(3), Date.now());
  let taken = '';
  child.stdout.on('data', (chunk: Buffer) => {
    taken += chunk;
  });
  await until(() => taken.split('\n').length > 3);
  child.kill('SIGKILL');
  await addChores(db, owner, names(12, 'own'), Date.now());
  await addChores(db, other, names(40, 'other'), Date.now());
  // All are due by the time at which the heir begins.
  await until(() => isDue(owner));
  const running = new Set<string>();
  const beside: string[] = [];
  const order: string[] = [];
  started(db, 'heir', async ({ accountId, id, deaths }) => {
    running.add(id);
    order.push(`${accountId} ${id}`);
    if (running.size > 1 && [...running].some((one) => /^c/.test(one))) beside.push(...running);
    expect(deaths).toBe(/^c/.test(id) ? 1 : 0);
    // sleeps: work that takes a while, so that what runs beside it is seen
    await sleep(20);
    running.delete(id);
  });
  await until(async () => (await isDone(owner)) && (await isDone(other)));
  expect(beside).toEqual([]);
  const own = order.filter((one) => one.startsWith(`${owner} `)).map((one) => one.slice(owner.length + 1));
  expect(own.slice(12).sort()).toEqual(['c0', 'c1', 'c2']);
  expect((await chores(owner)).map(({ done_by }) => done_by)).toEqual(Array.from({ length: 15 }, () => 'heir'));
});

test('a slow process keeps its own work, and does not end what another has taken over', async () => {
  const owner = newAccount();
  const slow = Promise.withResolvers<void>();
  const ran: string[] = [];
  started(db, 'slow', async ({ id }) => {
    ran.push(id);
    if (id === 'c0') await slow.promise;
  });
  await addChores(db, owner, ['c0'], Date.now());
  await until(() => ran.length === 1);
  // Its lease ends: this process does not begin it a second time, but what is added then.
  await until(() => isDue(owner));
  await addChores(db, owner, ['c1'], Date.now());
  await until(async () => (await chores(owner))[1]?.due_at === null);
  expect(ran).toEqual(['c0', 'c1']);
  const other = new Database({ connection: database.connection });
  started(other, 'quick', async () => undefined);
  await until(() => isDone(owner));
  slow.resolve();
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  await other.end();
  expect((await chores(owner))[0]).toEqual({ chore_id: 'c0', attempt: 2, done_by: 'quick', due_at: null });
});

test('what fails is tried again after longer and longer pauses, and stops nothing else', async () => {
  const owner = newAccount();
  const atMs: number[] = [];
  const loop = started(db, 'one', async ({ id, attempt }) => {
    if (id !== 'failing') return;
    atMs.push(performance.now());
    if (attempt < 4) throw new Error('not yet');
  });
  await addChores(db, owner, ['failing', 'sound'], Date.now());
  await until(() => isDone(owner));
  // 200, 400 and 800 ms, less a fifth of jitter.
  const pausesMs = atMs.slice(1).map((at, i) => at - (atMs[i] as number));
  for (const [i, leastMs] of [160, 320, 640].entries()) expect(pausesMs[i]).toBeGreaterThanOrEqual(leastMs - 5);
  expect((await chores(owner)).map(({ attempt }) => attempt)).toEqual([4, 1]);
  expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(3);
  expect(metricOf(loop, 'qm_jobs_put_back_total')).toBe(3);
});

test('what a job failed with is told also when it cannot be put back', async () => {
  const owner = newAccount();
  const told: { err: unknown }[] = [];
  const log = {
    ...createLog('silent'),
    error: (fields: { err: unknown }) => void told.push(fields),
  } as unknown as Logger;
  const failing = () => Promise.reject(new Error('the job failed'));
  const beforePutBack = () => {
    throw new Error('it could not be put back');
  };
  const loop = choreLoop(db, 'one', failing, { log, beforePutBack });
  loops.push(loop);
  loop.start();
  await addChores(db, owner, ['failing'], Date.now());
  await until(async () => told.length > 0);
  const failure = told[0]?.err;
  expect(failure).toBeInstanceOf(AggregateError);
  expect((failure as AggregateError).errors.map(({ message }) => message)).toEqual([
    'the job failed',
    'it could not be put back',
  ]);
});

test('an account whose work cannot be claimed is put off, and stops no other', async () => {
  const [broken, sound] = [newAccount(), newAccount()];
  await addChores(db, broken, ['c0'], Date.now() - 1_000);
  // Another attempt cannot be counted: every claim of it fails.
  await db.query({ name: 'test_break', text: 'UPDATE test.chore SET attempt = 2147483647 WHERE account_id = $1' }, [
    broken,
  ]);
  await addChores(db, sound, ['c0'], Date.now());
  const loop = started(db, 'one', async () => undefined);
  await until(() => isDone(sound));
  expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(1);
  await addChores(db, sound, ['c1'], Date.now());
  await until(() => isDone(sound));
  expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(1);
});

test('an account whose rows somebody holds makes no other wait, and has its turn when they are free', async () => {
  const [held, free] = [newAccount(), newAccount()];
  await addChores(db, held, ['c0'], Date.now() - 1_000);
  await withClient(database.connection, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM core.turn WHERE account_id = $1 FOR UPDATE', [held]);
    const loop = started(db, 'one', async () => undefined);
    for (let round = 0; round < 5; round += 1) {
      await addChores(db, free, [`c${round}`], Date.now());
      await until(() => isDone(free));
    }
    expect(await isDone(held)).toBe(false);
    // Who waited for the rows would wait still, or have failed.
    expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(0);
    await client.query('ROLLBACK');
    await until(() => isDone(held));
    expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(0);
  });
});

test('at the stop running work may end; what cannot is given back at once, and another process has it without waiting for the lease', async () => {
  const owner = newAccount();
  const quick = Promise.withResolvers<void>();
  const work: Parameters<typeof choreLoop>[2] = async ({ id }, signal) => {
    if (id === 'quick') return quick.promise;
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  // The heir would not get to it in the time of the test.
  const loop = started(db, 'stopping', work, { leaseMs: 600_000 });
  await addChores(db, owner, ['quick', 'slow'], Date.now());
  await until(() => metricOf(loop, 'qm_jobs_running') === 2);
  const stopped = loop.stop();
  quick.resolve();
  await stopped;
  expect((await chores(owner)).map(({ done_by }) => done_by)).toEqual(['stopping', null]);
  expect(metricOf(loop, 'qm_jobs_failures_total')).toBe(0);
  started(db, 'heir', async () => undefined);
  await until(() => isDone(owner));
  expect((await chores(owner))[1]).toMatchObject({ done_by: 'heir', attempt: 2 });
});

test('metrics tell how late the work is', async () => {
  const owners = Array.from({ length: 10 }, newAccount);
  const ended = Promise.withResolvers<void>();
  for (const owner of owners) await addChores(db, owner, ['c0', 'c1'], Date.now() - 60_000);
  const loop = started(db, 'one', () => ended.promise);
  // There are fewer places than accounts.
  await until(
    () => (metricOf(loop, 'qm_jobs_late_seconds') ?? 0) >= 60 && (metricOf(loop, 'qm_jobs_running') ?? 0) > 3,
  );
  ended.resolve();
  await until(() => metricOf(loop, 'qm_jobs_late_seconds') === 0);
});
