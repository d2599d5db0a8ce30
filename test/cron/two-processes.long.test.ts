// Several processes: one run per slot, work of a dead process comes back under the same id, and a stopping one hands its work over.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { CronBench, eventually, LOCAL_TARGETS, RUN_NANOS } from './harness.ts';

let database: TestDatabase;
/** Answers calls and begins no runs. */
let api: CronBench;
const places: Place[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  api = await CronBench.start({ database, env: { ROLES: 'web,render' } });
});
afterAll(async () => {
  await Promise.all(places.map((place) => place.remove()));
  await api.stop();
  await database.drop();
});

async function startWorker(): Promise<ServiceProcess> {
  const place = await createPlace({
    ...LOCAL_TARGETS,
    DATABASE_URL: database.url,
    SECRETS_KEY,
    TEST_CLOCK: 'on',
    ROLES: 'work,render',
  });
  places.push(place);
  return startProcess(place);
}

test('a process without the role work begins no runs; one with it does', async () => {
  const own = await api.withAccount();
  const { job_id: id, next_run_at: slot } = await own.create();
  await own.advanceTo(slot);
  await sleep(1_500);
  expect(await own.runs(id)).toEqual([]);
  const worker = await startWorker();
  expect(await own.ended(id, slot)).toMatchObject({ status: 'succeeded' });
  await worker.end('SIGTERM');
});

test('two processes make one run per slot of every job', async () => {
  const own = await api.withAccount();
  const workers = await Promise.all([startWorker(), startWorker()]);
  const jobs = await Promise.all(Array.from({ length: 40 }, (_, i) => own.create({ name: `${i}` })));
  const slots: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { next_run_at: slot } = await own.get(jobs[0].job_id);
    await own.advanceTo(slot);
    slots.unshift(slot);
    for (const { job_id: id } of jobs) await own.ended(id, slot);
  }
  for (const { job_id: id } of jobs) {
    const runs = await own.runs(id);
    expect(runs.map((run) => [run.scheduled_at, run.status, run.attempt])).toEqual(
      slots.map((slot) => [slot, 'succeeded', 1]),
    );
  }
  expect(own.receiver.received).toHaveLength(120);
  expect(new Set(own.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(120);
  expect(await own.spentNanos()).toBe(120n * RUN_NANOS);
  const executed = {
    name: 'test_executed',
    text: `SELECT (SELECT count(*) FROM core.event WHERE account_id = $1 AND type = 'cron.executed')
      + (SELECT count(*) FROM core.event_outbox WHERE account_id = $1 AND type = 'cron.executed') AS told`,
  };
  expect((await own.core.db.query(executed, [own.account.accountId])).rows[0]).toEqual({ told: 120n });
  expect(await own.findings()).toEqual([]);
  await Promise.all(workers.map((worker) => worker.end('SIGTERM')));
});

test('after kill -9 the POST is repeated with the same run id, charged once, told once', async () => {
  const own = await api.withAccount();
  own.receiver.answer = () => undefined;
  const { job_id: id, next_run_at: slot } = await own.create({ cron_expr: '0 * * * *' });
  const killed = await startWorker();
  await own.advanceTo(slot);
  await eventually(() => own.receiver.received.length === 1);
  await killed.end('SIGKILL');
  own.receiver.answer = (_call, response) => void response.end();
  const heir = await startWorker();
  await sleep(1_500);
  expect(own.receiver.received).toHaveLength(1);
  await own.advanceTo(31);
  const run = await own.ended(id, slot);
  expect(run).toMatchObject({ status: 'succeeded', attempt: 2 });
  const [first, second] = own.receiver.received;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.text).toBe(first?.text);
  expect(await own.runs(id)).toHaveLength(1);
  expect(await own.spentNanos()).toBe(RUN_NANOS);
  expect(await own.cronEvents()).toEqual([{ type: 'cron.executed', object: { ...run, job_name: null } }]);
  await heir.end('SIGTERM');
});

test('after kill -9 in the midst of a call that was paid, the next attempt finds its answer and pays nothing more', async () => {
  const own = await api.withAccount();
  await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
  const { job_id: id } = await own.ok('POST', '/v1/cron/create', {
    target: { queue: 'jobs', payload: { n: 1 } },
    cron_expr: '0 0 29 2 *',
    timeout_seconds: 900,
  });
  const { run_id: runId } = await own.ok('POST', `/v1/cron/run/${id}`);
  // What a killed process leaves: the call is made and paid, under the key of the run, and its end is not recorded.
  const made = await own.call('POST', '/v1/queue/publish', {
    queue: 'jobs',
    payload: { n: 1 },
    idempotency_key: `run ${runId}`,
  });
  expect(made.status).toBe(200);
  const worker = await startWorker();
  await eventually(async () => (await own.runs(id)).some((run) => run.status === 'succeeded'));
  const { by_capability: rows } = await own.ok('GET', '/v1/account/usage');
  expect(rows.find((row: { capability: string }) => row.capability === 'queue.publish')).toMatchObject({ units: 1 });
  expect(await own.ok('GET', '/v1/queue/stats/jobs')).toMatchObject({ message_count: 1 });
  expect(await own.findings()).toEqual([]);
  await worker.end('SIGTERM');
});

test('processes killed in the midst of 40 calls: each run publishes once and pays once', async () => {
  const own = await api.withAccount();
  await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
  const target = { queue: 'jobs', payload: { n: 1 } };
  const { job_id: id } = await own.ok('POST', '/v1/cron/create', { target, cron_expr: '0 0 29 2 *' });
  for (let i = 0; i < 40; i += 1) await own.ok('POST', `/v1/cron/run/${id}`);
  const published = async () => (await own.ok('GET', '/v1/queue/stats/jobs')).message_count;
  for (const atLeast of [1, 12, 24]) {
    const killed = await startWorker();
    await eventually(async () => (await published()) >= atLeast);
    await killed.end('SIGKILL');
    await own.advanceTo(31);
  }
  const heir = await startWorker();
  await eventually(async () => (await own.runs(id)).every(({ status }) => status === 'succeeded'));
  expect(await published()).toBe(40);
  const { by_capability: rows } = await own.ok('GET', '/v1/account/usage');
  expect(rows.find((row: { capability: string }) => row.capability === 'queue.publish')).toMatchObject({ units: 40 });
  expect((await own.cronEvents()).map(({ type }) => type)).toEqual(new Array(40).fill('cron.executed'));
  expect(await own.findings()).toEqual([]);
  await heir.end('SIGTERM');
});

test('a run whose job was deleted before its repetition is over, as failed', async () => {
  const own = await api.withAccount();
  own.receiver.answer = () => undefined;
  const { job_id: id, next_run_at: slot } = await own.create({ cron_expr: '0 * * * *' });
  const killed = await startWorker();
  await own.advanceTo(slot);
  await eventually(() => own.receiver.received.length === 1);
  await killed.end('SIGKILL');
  await own.ok('DELETE', `/v1/cron/delete/${id}`);
  await own.advanceTo(31);
  const heir = await startWorker();
  const [event] = await eventually(async () => {
    const events = await own.cronEvents();
    return events.length > 0 && events;
  });
  expect(event).toMatchObject({ type: 'cron.failed', object: { job_id: id, error_code: 'job_deleted', attempt: 2 } });
  expect(own.receiver.received).toHaveLength(1);
  await heir.end('SIGTERM');
});

test('a process that stops waits for quick tasks and hands over slow ones at once', async () => {
  const own = await api.withAccount();
  const slow = await own.create({ cron_expr: '0 * * * *', task: own.receiver.url('/slow') });
  const quick = await own.create({ cron_expr: '0 * * * *', task: own.receiver.url('/quick') });
  own.receiver.answer = ({ path }, response) => {
    if (path === '/quick') setTimeout(() => response.end(), 1_000);
  };
  const stopping = await startWorker();
  await own.advanceTo(slow.next_run_at);
  await eventually(() => own.receiver.received.length === 2);
  expect(await stopping.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(await own.ended(quick.job_id, quick.next_run_at)).toMatchObject({ status: 'succeeded', attempt: 1 });
  expect((await own.runs(slow.job_id))[0]).toMatchObject({ status: 'running', attempt: 1 });
  own.receiver.answer = (_call, response) => void response.end();
  const heir = await startWorker();
  expect(await own.ended(slow.job_id, slow.next_run_at)).toMatchObject({ status: 'succeeded', attempt: 2 });
  expect(own.receiver.received.filter(({ path }) => path === '/quick')).toHaveLength(1);
  await heir.end('SIGTERM');
});

test('a run that dies with its process every time is given up', async () => {
  const own = await api.withAccount();
  const { job_id: id, next_run_at: slot } = await own.create({ cron_expr: '0 * * * *' });
  const insert = {
    name: 'test_dying_run',
    text: `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, lease_until, cost_nanos)
           VALUES ($1, 'run_0000000000000000000000', $2, $3, core.clock_now(), 'running', 5, core.clock_now(), 20000)`,
  };
  await own.core.db.query(insert, [own.account.accountId, id, slot]);
  const due = { name: 'test_due_turn', text: `UPDATE core.turn SET due_at = core.clock_now() WHERE account_id = $1` };
  await own.core.db.query(due, [own.account.accountId]);
  const worker = await startWorker();
  expect(await own.ended(id, slot)).toMatchObject({ status: 'failed', error_code: 'interrupted', attempt: 6 });
  expect(own.receiver.received).toEqual([]);
  await worker.end('SIGTERM');
});
