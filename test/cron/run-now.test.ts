// Runs that somebody asks for: at once, once, outside the schedule.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CronBench, eventually, RUN_NANOS } from './harness.ts';

let bench: CronBench;
beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

const yearly = { cron_expr: '0 0 29 2 *' };
const over = (own: CronBench, id: string) =>
  eventually(async () => (await own.runs(id)).find(({ finished_at }) => finished_at !== null));

test('run now begins one run, charges it as any other, and leaves the next run as it was', async () => {
  const own = await bench.withAccount();
  const job = await own.create({ ...yearly, payload: { n: 1 } });
  const begun = await own.ok('POST', `/v1/cron/run/${job.job_id}`);
  expect(begun).toMatchObject({ job_id: job.job_id, status: 'running', trigger: 'manual', finished_at: null });
  const run = await over(own, job.job_id);
  expect(run).toMatchObject({
    run_id: begun.run_id,
    status: 'succeeded',
    trigger: 'manual',
    attempt: 1,
    http_status: 200,
  });
  expect(own.receiver.received.map(({ body }) => body)).toEqual([
    { run_id: run.run_id, job_id: job.job_id, name: null, scheduled_at: begun.scheduled_at, payload: { n: 1 } },
  ]);
  expect(await own.runs(job.job_id)).toHaveLength(1);
  expect(await own.get(job.job_id)).toMatchObject({ status: 'active', next_run_at: job.next_run_at, last_run: run });
  expect(await own.cronEvents()).toEqual([{ type: 'cron.executed', object: { ...run, job_name: null } }]);
  expect(await own.spentNanos()).toBe(RUN_NANOS);
  expect(await own.findings()).toEqual([]);
});

test('a call that is repeated with its idempotency key is one run', async () => {
  const own = await bench.withAccount();
  const { job_id: id } = await own.create(yearly);
  const call = () => own.ok('POST', `/v1/cron/run/${id}`, { idempotency_key: 'again' });
  const [one, other] = await Promise.all([call(), call()]);
  expect(other.run_id).toBe(one.run_id);
  await over(own, id);
  expect(await own.runs(id)).toHaveLength(1);
});

test('a paused job runs and stays paused; a job for one time still runs at its time', async () => {
  const own = await bench.withAccount();
  const paused = await own.create(yearly);
  await own.ok('POST', `/v1/cron/pause/${paused.job_id}`);
  await own.ok('POST', `/v1/cron/run/${paused.job_id}`);
  expect(await over(own, paused.job_id)).toMatchObject({ status: 'succeeded' });
  expect(await own.get(paused.job_id)).toMatchObject({ status: 'paused', next_run_at: null });
  const once = await own.create({ run_at: '2099-12-24T18:00:00Z' });
  await own.ok('POST', `/v1/cron/run/${once.job_id}`);
  await over(own, once.job_id);
  expect(await own.get(once.job_id)).toMatchObject({ status: 'active', next_run_at: '2099-12-24T18:00:00.000Z' });
});

test('what cannot run says why, and nothing is recorded', async () => {
  const own = await bench.withAccount(0);
  const { job_id: id } = await own.create(yearly);
  expect(await own.fails('POST', `/v1/cron/run/${id}`)).toEqual(['INSUFFICIENT_CREDIT', undefined, 'balance']);
  expect(await own.runs(id)).toEqual([]);
  expect(await own.fails('POST', '/v1/cron/run/cron_1111111111111111111111')).toEqual([
    ...['JOB_NOT_FOUND', 'job_id', undefined],
  ]);
  const rich = await bench.withAccount();
  const over = await rich.create({ run_at: new Date((await rich.nowMs()) + 5_000).toISOString() });
  await rich.runNext(over.job_id);
  expect(await rich.fails('POST', `/v1/cron/run/${over.job_id}`)).toEqual(['STATE_CONFLICT', undefined, undefined]);
});

test('a job tells its next five runs by its own zone, a paused one none', async () => {
  const own = await bench.withAccount();
  const { job_id: id } = await own.create({ cron_expr: '30 2 29 3 *', timezone: 'Europe/Berlin' });
  const { next_runs: runs, next_run_at: next } = await own.get(id);
  expect(runs).toHaveLength(5);
  expect(runs[0]).toBe(next);
  expect(runs.map((at: string) => at.slice(4))).toEqual(expect.arrayContaining(['-03-29T00:30:00.000Z']));
  await own.ok('POST', `/v1/cron/pause/${id}`);
  expect((await own.get(id)).next_runs).toEqual([]);
  const once = await own.create({ run_at: '2099-12-24T18:00:00Z' });
  expect((await own.get(once.job_id)).next_runs).toEqual(['2099-12-24T18:00:00.000Z']);
});

test('an answer is kept without the secrets in it', async () => {
  const own = await bench.withAccount();
  const secret = `sk_live_${'4f9a8c7b'.repeat(4)}`;
  own.receiver.answer = (_call, response) => void response.end(`{"api_key":"${secret}","note":"kept"}`);
  const { job_id: id } = await own.create(yearly);
  await own.ok('POST', `/v1/cron/run/${id}`);
  const { response_snippet: snippet } = await over(own, id);
  expect(snippet).toContain('kept');
  expect(snippet).not.toContain(secret);
});
