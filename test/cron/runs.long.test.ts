// A run: one per slot, a signed POST, a record, a charge and an event.
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CronBench, eventually, RUN_NANOS } from './harness.ts';

let bench: CronBench;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

describe('a run', () => {
  test('is a POST that standardwebhooks verifies, with the payload byte for byte and the headers of the job', async () => {
    const own = await bench.withAccount();
    const payload = '{"b": 1e2 ,"a":12345678901234567890, "t":"\\u00e9","__proto__":{"x":1}}';
    const created = await own.ok(
      'POST',
      '/v1/cron/create',
      `{"name":"näme","task":"${own.receiver.url('/hook?x=1')}","cron_expr":"* * * * *","headers":{"X-Token":"secret-token"},"payload":${payload}}`,
    );
    expect(created.headers).toEqual({ 'X-Token': '****' });
    expect(created.secret).toMatch(/^whsec_/);
    const run = await own.runNext(created.job_id);
    const [post] = own.receiver.received;
    expect(post?.path).toBe('/hook?x=1');
    expect(post?.headers).toMatchObject({
      'x-token': 'secret-token',
      'content-type': 'application/json',
      'webhook-id': run.run_id,
    });
    expect(new Webhook(created.secret).verify(post?.text as string, post?.headers as Record<string, string>)).toEqual(
      post?.body,
    );
    expect(post?.text.endsWith(`,"payload":${payload}}`)).toBe(true);
    expect(post?.body).toMatchObject({
      run_id: run.run_id,
      job_id: created.job_id,
      name: 'näme',
      scheduled_at: run.scheduled_at,
    });
    const shown = await own.call('GET', `/v1/cron/get/${created.job_id}`);
    expect(shown.text).toContain(`"payload":${payload}}`);
    expect(shown.text).not.toContain(created.secret);
  });

  test('a job without payload sends null', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create();
    await own.runNext(id);
    expect(own.receiver.received[0]?.body.payload).toBeNull();
  });

  test.each([
    [200, 'succeeded', 'cron.executed'],
    [204, 'succeeded', 'cron.executed'],
    [301, 'failed', 'cron.failed'],
    [404, 'failed', 'cron.failed'],
    [500, 'failed', 'cron.failed'],
  ])('answered %i is %s, told as %s, charged, and not tried again', async (status, outcome, type) => {
    const own = await bench.withAccount();
    own.receiver.answer = (_call, response) => void response.writeHead(status, { location: '/else' }).end('text\0');
    const { job_id: id } = await own.create();
    const run = await own.runNext(id);
    expect(run).toMatchObject({
      job_id: id,
      status: outcome,
      attempt: 1,
      http_status: status,
      error_code: null,
      cost_usd: 0.00002,
      latency_ms: expect.any(Number),
    });
    expect(run.response_snippet).toMatch(status === 204 ? /^$/ : /^text/);
    expect(await own.cronEvents()).toEqual([{ type, object: { ...run, job_name: null } }]);
    expect((await own.get(id)).last_run).toEqual(run);
    expect(own.receiver.received).toHaveLength(1);
    expect(await own.spentNanos()).toBe(RUN_NANOS);
  });

  test('that reaches nobody has failed, with the reason', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ task: 'http://127.0.0.1:1/closed' });
    const run = await own.runNext(id);
    expect(run).toMatchObject({ status: 'failed', http_status: null, error_code: 'connect', cost_usd: 0.00002 });
    expect(await own.cronEvents()).toEqual([{ type: 'cron.failed', object: { ...run, job_name: null } }]);
  });

  test('in flight it is shown as running', async () => {
    const own = await bench.withAccount();
    let finish = () => undefined as unknown;
    own.receiver.answer = (_call, response) => {
      finish = () => response.end();
    };
    const { job_id: id, next_run_at: slot } = await own.create();
    await own.advanceTo(61);
    const running = await eventually(async () => (await own.runs(id))[0]);
    expect(running).toMatchObject({ status: 'running', finished_at: null, http_status: null, cost_usd: 0.00002 });
    expect((await own.get(id)).last_run).toEqual(running);
    expect(await own.cronEvents()).toEqual([]);
    await eventually(() => own.receiver.received.length === 1);
    finish();
    expect(await own.ended(id, slot)).toMatchObject({ run_id: running.run_id, status: 'succeeded' });
  });
});

describe('slots', () => {
  test('each slot has one run, and the next one is counted from the schedule', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ cron_expr: '*/5 * * * *' });
    const slots: string[] = [];
    for (let i = 0; i < 3; i += 1) slots.push((await own.runNext(id)).scheduled_at);
    const gaps = slots.slice(1).map((slot, i) => Date.parse(slot) - Date.parse(slots[i] as string));
    expect(gaps).toEqual([300_000, 300_000]);
    expect((await own.runs(id)).map((run) => run.scheduled_at)).toEqual(slots.reverse());
    expect(own.receiver.received.map(({ body }) => body.scheduled_at)).toEqual(slots.reverse());
  });

  test('after downtime the latest of the missed slots runs, once, and then the schedule goes on', async () => {
    const own = await bench.withAccount();
    const { job_id: id, next_run_at: first } = await own.create({ cron_expr: '0 * * * *' });
    await own.advanceTo(new Date(Date.parse(first) + 5 * 3_600_000 + 1_800_000).toISOString());
    const latest = new Date(Date.parse(first) + 5 * 3_600_000).toISOString();
    expect(await own.ended(id, latest)).toMatchObject({ status: 'succeeded' });
    const after = await own.get(id);
    expect(after.next_run_at).toBe(new Date(Date.parse(first) + 6 * 3_600_000).toISOString());
    await own.runNext(id);
    expect(await own.runs(id)).toHaveLength(2);
    expect(await own.spentNanos()).toBe(2n * RUN_NANOS);
  });

  test('run_at runs once, at its time, and completes the job', async () => {
    const own = await bench.withAccount();
    const at = new Date((await own.nowMs()) + 7_777_123).toISOString().replace(/\d\dZ$/, '00Z');
    const job = await own.create({ run_at: at });
    expect(job).toMatchObject({ run_at: at, next_run_at: at, cron_expr: null, status: 'active' });
    expect(await own.runNext(job.job_id)).toMatchObject({ scheduled_at: at, status: 'succeeded' });
    const done = await eventually(async () => {
      const shown = await own.get(job.job_id);
      return shown.status === 'completed' && shown;
    });
    expect(done).toMatchObject({ next_run_at: null, last_run: { scheduled_at: at } });
    await own.advanceTo(86_400);
    expect(await own.runs(job.job_id)).toHaveLength(1);
  });
});

test('runs go after 30 days, completed jobs too', async () => {
  const own = await bench.withAccount();
  const once = await own.create({ run_at: new Date((await own.nowMs()) + 60_000).toISOString() });
  // In half a year, whatever day it is.
  const month = ((new Date(await own.nowMs()).getUTCMonth() + 6) % 12) + 1;
  const yearly = await own.create({ cron_expr: `0 0 1 ${month} *` });
  await own.runNext(once.job_id);
  expect((await own.ok('GET', '/v1/cron/list')).items).toHaveLength(2);
  await own.advanceTo(29 * 86_400);
  expect(await own.runs(once.job_id)).toHaveLength(1);
  await own.advanceTo(2 * 86_400);
  const count = { name: 'test_runs_left', text: 'SELECT count(*) AS left FROM cron.run WHERE account_id = $1' };
  await eventually(async () => {
    const { rows } = await own.core.db.query<{ left: bigint }>(count, [own.account.accountId]);
    return rows[0]?.left === 0n;
  }, 100_000);
  await eventually(async () => (await own.ok('GET', '/v1/cron/list')).items.length === 1, 100_000);
  expect((await own.get(yearly.job_id)).status).toBe('active');
}, 250_000);
