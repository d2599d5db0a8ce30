// Jobs that publish to queues and call capabilities, as a key: its rights, what they cost, and what cannot be called.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CronBench, eventually } from './harness.ts';

let bench: CronBench;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Fields = Record<string, unknown>;

const yearly = '0 0 29 2 *';

function schedule(own: CronBench, target: Fields, fields: Fields = {}): Promise<Data> {
  return own.ok('POST', '/v1/cron/create', { target, cron_expr: yearly, ...fields });
}

function refusal(own: CronBench, target: Fields, fields: Fields = {}) {
  return own.fails('POST', '/v1/cron/create', { target, cron_expr: yearly, ...fields });
}

async function runNow(own: CronBench, id: string): Promise<Data> {
  const { run_id: runId } = await own.ok('POST', `/v1/cron/run/${id}`);
  return over(own, id, runId);
}

function over(own: CronBench, id: string, runId: string): Promise<Data> {
  return eventually(async () => (await own.runs(id)).find((run) => run.run_id === runId && run.finished_at !== null));
}

async function spentOn(own: CronBench, capability: string): Promise<number> {
  const { by_capability: rows } = await own.ok('GET', '/v1/account/usage');
  return rows.find((row: Data) => row.capability === capability)?.spend_usd ?? 0;
}

describe('a queue', () => {
  test('gets the payload byte for byte; the run costs the publish, and is told once', async () => {
    const own = await bench.withAccount();
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    const payload = '{"b": 1e2 ,"a":12345678901234567890}';
    const job = await own.ok(
      'POST',
      '/v1/cron/create',
      `{"cron_expr":"${yearly}","target":{"queue":"jobs","payload":${payload}}}`,
    );
    expect(job).toMatchObject({
      task: null,
      target: { queue: 'jobs', key_id: own.account.keyId },
      timeout_seconds: 15,
    });
    const { next_run_at: slot } = job;
    await own.advanceTo(slot);
    const run = await own.ended(job.job_id, slot);
    expect(run).toMatchObject({ status: 'succeeded', http_status: 200, attempt: 1, retries_left: 0 });
    const { text } = await own.call('POST', '/v1/queue/consume', { queue: 'jobs' });
    expect(text).toContain(`"payload":${payload}`);
    expect(run.cost_usd).toBeGreaterThan(0);
    expect(await spentOn(own, 'queue.publish')).toBeCloseTo(run.cost_usd, 12);
    expect(await own.spentNanos()).toBe(0n);
    expect(await own.cronEvents()).toEqual([{ type: 'cron.executed', object: { ...run, job_name: null } }]);
    expect(await own.findings()).toEqual([]);
  });

  test('of another account is none of this one, which the run says', async () => {
    const [own, other] = [await bench.withAccount(), await bench.withAccount()];
    await other.ok('POST', '/v1/queue/create', { name: 'theirs' });
    const { job_id: id } = await schedule(own, { queue: 'theirs', payload: { n: 1 } });
    expect(await runNow(own, id)).toMatchObject({ status: 'failed', error_code: 'QUEUE_NOT_FOUND', attempt: 1 });
    expect(await other.ok('GET', '/v1/queue/stats/theirs')).toMatchObject({ message_count: 0 });
  });
});

describe('a capability', () => {
  test('runs as the key: narrowed, it is refused at the next run, and revoked too', async () => {
    const own = await bench.withAccount();
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    const made = await own.ok('POST', '/v1/account/keys/create', { scopes: ['cron', 'queue'] });
    const asKey = own.withSecret(made.key_secret);
    const { job_id: id } = await schedule(asKey, {
      capability: 'queue.publish',
      input: { queue: 'jobs', payload: { n: 1 } },
    });
    expect(await runNow(own, id)).toMatchObject({ status: 'succeeded' });
    await own.ok('PATCH', `/v1/account/keys/update/${made.key_id}`, { scopes: ['cron'] });
    expect(await runNow(own, id)).toMatchObject({ status: 'failed', error_code: 'INSUFFICIENT_SCOPE' });
    await own.ok('DELETE', `/v1/account/keys/revoke/${made.key_id}`);
    const last = await runNow(own, id);
    expect(last).toMatchObject({ status: 'failed', error_code: 'INVALID_API_KEY', cost_usd: 0.00002 });
    expect((await own.cronEvents()).map(({ type }) => type)).toEqual(['cron.executed', 'cron.failed', 'cron.failed']);
    expect(await own.ok('GET', '/v1/queue/stats/jobs')).toMatchObject({ message_count: 1 });
  });

  test('of another key is begun, and moved, by who may make its call without a cap', async () => {
    const own = await bench.withAccount();
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    const { job_id: id } = await schedule(own, { queue: 'jobs', payload: { n: 1 } });
    const acts = [
      ['POST', `/v1/cron/run/${id}`, {}],
      ['PATCH', `/v1/cron/update/${id}`, { cron_expr: '* * * * *' }],
      ['POST', `/v1/cron/resume/${id}`, {}],
    ] as const;
    const codesOf = async (fields: Fields) => {
      const made = await own.ok('POST', '/v1/account/keys/create', fields);
      const asKey = own.withSecret(made.key_secret);
      await own.ok('POST', `/v1/cron/pause/${id}`);
      const codes: unknown[] = [];
      for (const [method, path, body] of acts) codes.push((await asKey.call(method, path, body)).body.error?.code);
      return codes;
    };
    const refused = acts.map(() => 'INSUFFICIENT_SCOPE');
    expect(await codesOf({ scopes: ['cron', 'queue:read'] })).toEqual(refused);
    expect(await codesOf({ scopes: ['cron', 'queue'], spend_cap_usd: 1 })).toEqual(refused);
    expect(await codesOf({ scopes: ['cron', 'queue.publish'] })).toEqual(acts.map(() => undefined));
  });

  test('keeps to the cap of the key', async () => {
    const own = await bench.withAccount();
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    const made = await own.ok('POST', '/v1/account/keys/create', { scopes: ['cron', 'queue'], spend_cap_usd: 0 });
    const { job_id: id } = await schedule(own.withSecret(made.key_secret), { queue: 'jobs', payload: { n: 1 } });
    expect(await runNow(own, id)).toMatchObject({ status: 'failed', http_status: 402 });
  });

  test.each<[string, Fields, string, string, string?]>([
    [
      'an unknown one',
      { capability: 'queue.publsh', input: {} },
      'VALIDATION_FAILED',
      'target.capability',
      'unknown_capability',
    ],
    [
      'one that schedules',
      { capability: 'cron.create', input: {} },
      'VALIDATION_FAILED',
      'target.capability',
      'not_schedulable',
    ],
    [
      'one that runs schedules',
      { capability: 'cron.run', input: { job_id: 'x' } },
      'VALIDATION_FAILED',
      'target.capability',
      'not_schedulable',
    ],
    [
      'one of rights',
      { capability: 'account.keys.create', input: {} },
      'VALIDATION_FAILED',
      'target.capability',
      'not_schedulable',
    ],
    [
      'one that answers a secret',
      { capability: 'queue.subscribe', input: {} },
      'VALIDATION_FAILED',
      'target.capability',
      'not_schedulable',
    ],
    [
      'one without idempotency',
      { capability: 'queue.consume', input: { queue: 'abc' } },
      'VALIDATION_FAILED',
      'target.capability',
      'not_schedulable',
    ],
    [
      'a wrong input',
      { capability: 'queue.publish', input: { queue: 'abc', payload: { n: 1 }, priority: 99 } },
      'VALIDATION_FAILED',
      'target.input.priority',
    ],
    [
      'an unknown field of it',
      { capability: 'queue.publish', input: { queue: 'abc', payload: { n: 1 }, prio: 1 } },
      'VALIDATION_FAILED',
      'target.input.prio',
    ],
    ['a wrong queue', { queue: 'a b' }, 'VALIDATION_FAILED', 'target.queue'],
    ['two kinds', { queue: 'abc', url: 'https://example.org/' }, 'VALIDATION_FAILED', 'target', 'kind'],
    ['none', {}, 'VALIDATION_FAILED', 'target', 'kind'],
    ['what does not go with it', { queue: 'abc', input: {} }, 'VALIDATION_FAILED', 'target.input', 'not_of_kind'],
    ['another key', { queue: 'abc', key_id: 'key_else' }, 'VALIDATION_FAILED', 'target.key_id', 'own_key'],
    ['a private URL', { url: 'https://10.0.0.1/' }, 'WEBHOOK_URL_REJECTED', 'target.url'],
  ])('%s is refused when it is scheduled', async (_, target, code, param, detail) => {
    const own = bench;
    const refused = await refusal(own, target);
    expect(refused.slice(0, 2)).toEqual([code, param]);
    if (detail !== undefined) expect(refused[2]).toBe(detail);
  });

  test('what the key may not call is refused, as what belongs to a URL or to a target is', async () => {
    const own = await bench.withAccount();
    const made = await own.ok('POST', '/v1/account/keys/create', { scopes: ['cron'] });
    expect((await refusal(own.withSecret(made.key_secret), { queue: 'abc' })).slice(0, 2)).toEqual([
      'INSUFFICIENT_SCOPE',
      'target.capability',
    ]);
    expect(await refusal(own, { queue: 'abc' }, { payload: { n: 1 } })).toEqual([
      'VALIDATION_FAILED',
      'payload',
      'in_target',
    ]);
    expect(await refusal(own, { queue: 'abc' }, { headers: { a: 'b' } })).toEqual([
      'VALIDATION_FAILED',
      'headers',
      'no_url',
    ]);
    expect((await refusal(own, { queue: 'abc' }, { task: 'https://example.org/' })).slice(0, 2)).toEqual([
      'INVALID_REQUEST',
      'target',
    ]);
    expect(await own.fails('POST', '/v1/cron/create', { cron_expr: yearly })).toEqual([
      'VALIDATION_FAILED',
      'task',
      'required',
    ]);
    const { job_id: id } = await schedule(own, { queue: 'abc', payload: { n: 1 } });
    const other = own.withSecret(made.key_secret);
    const change = (fields: Fields) => other.fails('PATCH', `/v1/cron/update/${id}`, fields);
    expect(await change({ payload: { n: 2 } })).toEqual(['VALIDATION_FAILED', 'payload', 'in_target']);
    expect((await change({ target: { queue: 'abc', payload: { n: 2 } } })).slice(0, 2)).toEqual([
      'INSUFFICIENT_SCOPE',
      'target.capability',
    ]);
    // Anybody who may change schedules may send it to a URL, which takes neither payload nor key along.
    const changed = await other.ok('PATCH', `/v1/cron/update/${id}`, { task: own.receiver.url() });
    expect(changed).toMatchObject({ task: own.receiver.url(), target: { url: own.receiver.url() }, payload: null });
  });
});

describe('retries', () => {
  test('a run that fails is tried again with the same id after 5 s, 10 s, …; told and charged once', async () => {
    const own = await bench.withAccount();
    own.receiver.answer = (_call, response) => void response.writeHead(503).end('later');
    const job = await own.create({ name: 'hourly', cron_expr: '0 * * * *', retries: 2 });
    await own.advanceTo(job.next_run_at);
    const attempt = (n: number) =>
      eventually(async () => (await own.runs(job.job_id)).find((run) => run.attempt === n && run.status !== 'running'));
    const first = await attempt(1);
    expect(first).toMatchObject({ status: 'retrying', finished_at: null, http_status: 503, retries_left: 1 });
    expect((await own.get(job.job_id)).last_run).toEqual(first);
    await own.advanceTo(6);
    expect(await attempt(2)).toMatchObject({ status: 'retrying', retries_left: 0 });
    expect(await own.cronEvents()).toEqual([]);
    await own.advanceTo(11);
    const last = await attempt(3);
    expect(last).toMatchObject({ status: 'failed', next_attempt_at: null, cost_usd: 0.00002 });
    expect(await own.cronEvents()).toEqual([{ type: 'cron.failed', object: { ...last, job_name: 'hourly' } }]);
    expect(new Set(own.receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([last.run_id]));
    expect(own.receiver.received).toHaveLength(3);
    expect(await own.spentNanos()).toBe(20_000n);
  });

  test('a run that succeeds at last is told as executed, and one that no retry mends is not tried again', async () => {
    const own = await bench.withAccount();
    own.receiver.answer = (_call, response) => void response.writeHead(503, { 'retry-after': '60' }).end();
    const { job_id: id } = await own.create({ cron_expr: yearly, retries: 1 });
    const { run_id: runId } = await own.ok('POST', `/v1/cron/run/${id}`);
    const waiting = await eventually(async () => (await own.runs(id)).find(({ status }) => status === 'retrying'));
    expect(Date.parse(waiting.next_attempt_at) - (await own.nowMs())).toBeGreaterThan(50_000);
    own.receiver.answer = (_call, response) => void response.end('done');
    await own.advanceTo(61);
    expect(await over(own, id, runId)).toMatchObject({ status: 'succeeded', attempt: 2 });
    const { job_id: other } = await schedule(own, { queue: 'nowhere' }, { retries: 10 });
    expect(await runNow(own, other)).toMatchObject({ status: 'failed', attempt: 1, retries_left: 10 });
    expect((await own.cronEvents()).map(({ type }) => type)).toEqual(['cron.executed', 'cron.failed']);
  });
});

test('1,000 targets that answer nothing: an account has 20 of them under way, and every other account and run goes on', async () => {
  const [own, other] = [await bench.withAccount(), await bench.withAccount()];
  const silent = own.receiver;
  silent.answer = () => undefined;
  await other.ok('POST', '/v1/queue/create', { name: 'jobs' });
  for (let i = 0; i < 50; i += 1) {
    const { job_id: id } = await own.create({ cron_expr: yearly, timeout_seconds: 900 });
    for (let n = 0; n < 20; n += 1) await own.core.db.query(manyRuns, [own.account.accountId, id, n]);
  }
  await own.core.db.query(dueNow, [own.account.accountId]);
  own.core.db.hint('due cron.long_runs');
  await eventually(() => silent.received.length === 20);
  for (const fields of [{}, { timeout_seconds: 900 }]) {
    const { job_id: id } = await schedule(other, { queue: 'jobs', payload: { n: 1 } }, fields);
    expect(await runNow(other, id)).toMatchObject({ status: 'succeeded' });
  }
  const ownShort = await schedule(own, { queue: 'nowhere' });
  expect(await runNow(own, ownShort.job_id)).toMatchObject({ error_code: 'QUEUE_NOT_FOUND' });
  expect(silent.received).toHaveLength(20);
});

const manyRuns = {
  name: 'test_cron_many_runs',
  text: `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, lease_until, cost_nanos, timeout_seconds)
         VALUES ($1, 'run_' || $2 || $3::int, $2, core.clock_now() + $3::int * interval '1 minute', core.clock_now(), 'running', 0, core.clock_now(), 0, 900)`,
};
const dueNow = {
  name: 'test_cron_due_now',
  text: `UPDATE core.turn SET due_at = core.clock_now(), told = told + 1 WHERE account_id = $1 AND work = 'cron.long_runs'`,
};

describe('a lease', () => {
  test('that ends while the call goes on gives the run to another attempt, whose outcome is the only one', async () => {
    const own = await bench.withAccount();
    const waiting: (() => void)[] = [];
    own.receiver.answer = (_call, response) => void waiting.push(() => response.end('late'));
    const { job_id: id } = await own.create({ cron_expr: yearly, timeout_seconds: 900 });
    const { run_id: runId } = await own.ok('POST', `/v1/cron/run/${id}`);
    await eventually(() => waiting.length === 1);
    // Another process has the run by now.
    await own.core.db.query(takeOver, [own.account.accountId, runId]);
    waiting[0]?.();
    const { job_id: other } = await own.create({ cron_expr: yearly });
    own.receiver.answer = (_call, response) => void response.end('done');
    await runNow(own, other);
    const [run] = await own.runs(id);
    expect(run).toMatchObject({ run_id: runId, status: 'running', attempt: 2, finished_at: null });
    await own.core.db.query(giveUp, [own.account.accountId, runId]);
    await own.core.db.query(dueNow, [own.account.accountId]);
    own.core.db.hint('due cron.long_runs');
    expect(await over(own, id, runId)).toMatchObject({ status: 'succeeded', attempt: 3, response_snippet: 'done' });
    const ends = (await own.cronEvents()).filter(({ object }) => object.run_id === runId);
    expect(ends).toHaveLength(1);
  });

  test('ends in time for a receiver that drips a byte at a time', async () => {
    const own = await bench.withAccount();
    own.receiver.answer = (_call, response) => {
      response.writeHead(200);
      const dripping = setInterval(() => response.write('.'), 200);
      response.once('close', () => clearInterval(dripping));
    };
    const { job_id: id } = await own.create({ cron_expr: yearly, timeout_seconds: 2 });
    // Its status has come: what follows it is no longer waited for than its time.
    expect(await runNow(own, id)).toMatchObject({ status: 'succeeded', http_status: 200, attempt: 1 });
  });
});

const takeOver = {
  name: 'test_cron_take_over',
  text: `UPDATE cron.run SET attempt = attempt + 1, lease_until = core.clock_now() + interval '1 hour' WHERE account_id = $1 AND run_id = $2`,
};
const giveUp = {
  name: 'test_cron_give_up',
  text: `UPDATE cron.run SET lease_until = core.clock_now() WHERE account_id = $1 AND run_id = $2`,
};
