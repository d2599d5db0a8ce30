// Jobs as they are made and listed: what is answered, refused and limited.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTier } from '../../src/core/accounts/accounts.ts';
import { client, createTestAccount } from '../support/service.ts';
import { CronBench, eventually } from './harness.ts';

let bench: CronBench;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

describe('create', () => {
  test('answers the job with its secret, and get shows the same without it', async () => {
    const own = await bench.withAccount();
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const job = await own.create({ name: 'report', cron_expr: ' 0  9 * *  MON', timezone: 'Asia/Tokyo', secret });
    expect(job).toEqual({
      job_id: expect.stringMatching(/^cron_[0-9A-Za-z]{22}$/),
      name: 'report',
      task: own.receiver.url(),
      task_url: own.receiver.url(),
      target: { url: own.receiver.url() },
      timeout_seconds: 15,
      retries: 0,
      cron_expr: '0 9 * * MON',
      timezone: 'Asia/Tokyo',
      run_at: null,
      status: 'active',
      next_run_at: expect.stringMatching(/T00:00:00\.000Z$/),
      last_run: null,
      headers: {},
      secret_last4: secret.slice(-4),
      created_at: expect.any(String),
      updated_at: job.created_at,
      secret,
      payload: null,
    });
    const { secret: _once, ...rest } = job;
    const { next_runs: runs, ...shown } = await own.get(job.job_id);
    expect(shown).toEqual(rest);
    expect(runs[0]).toBe(job.next_run_at);
    expect(new Date(job.next_run_at).getUTCDay()).toBe(1);
  });

  test('a repetition with its key answers the same secret, which is not stored in the clear', async () => {
    const own = await bench.withAccount();
    const make = () => own.create({ idempotency_key: 'k', name: 'once' });
    const first = await make();
    expect(await make()).toEqual(first);
    const { rows } = await own.core.db.query<{ text: string }>(
      {
        name: 'test_cron_stored',
        text: `SELECT (SELECT string_agg(to_jsonb(j)::text, '') FROM cron.job j WHERE j.account_id = $1)
                   || (SELECT string_agg(encode(i.answer, 'escape'), '') FROM core.idempotency i WHERE i.account_id = $1) AS text`,
      },
      [own.account.accountId],
    );
    expect(rows[0]?.text).toContain(first.job_id);
    expect(rows[0]?.text).not.toContain(first.secret.slice(6));
    expect(rows[0]?.text).not.toContain(Buffer.from(first.secret).toString('hex'));
  });

  test.each([
    [{}, ['VALIDATION_FAILED', 'cron_expr', 'required']],
    [{ cron_expr: null, run_at: null }, ['VALIDATION_FAILED', 'cron_expr', 'required']],
    [{ cron_expr: '* * * * *', run_at: '2099-01-01T00:00:00Z' }, ['INVALID_REQUEST', 'run_at', undefined]],
    [{ cron_expr: '0 0 30 2 *' }, ['VALIDATION_FAILED', 'cron_expr', 'never']],
    [{ cron_expr: '* * * * * *' }, ['VALIDATION_FAILED', 'cron_expr', 'format']],
    [{ cron_expr: '@hourly' }, ['VALIDATION_FAILED', 'cron_expr', 'format']],
    [{ cron_expr: '* * * * *', timezone: 'Mars/Olympus' }, ['VALIDATION_FAILED', 'timezone', 'timezone']],
    [{ run_at: '2020-01-01T00:00:00Z' }, ['VALIDATION_FAILED', 'run_at', 'past']],
    [{ run_at: 'tomorrow' }, ['VALIDATION_FAILED', 'run_at', 'format']],
    [{ run_at: '2099-02-30T00:00:00Z' }, ['VALIDATION_FAILED', 'run_at', 'format']],
    [{ cron_expr: '* * * * *', secret: 'short' }, ['VALIDATION_FAILED', 'secret', 'length']],
    [{ cron_expr: '* * * * *', payload: 'x'.repeat(65_535) }, ['VALIDATION_FAILED', 'payload', 'size']],
    [
      { cron_expr: '* * * * *', headers: { 'webhook-id': 'x' } },
      ['WEBHOOK_HEADER_REJECTED', 'headers.webhook-id', 'reserved'],
    ],
    [{ cron_expr: '* * * * *', headers: { a: 'b\r\nc: d' } }, ['WEBHOOK_HEADER_REJECTED', 'headers.a', 'value']],
  ])('%j is refused', async (fields, expected) => {
    expect(await bench.fails('POST', '/v1/cron/create', { task: bench.receiver.url(), ...fields })).toEqual(expected);
  });

  test('a private address is refused at create and at update', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create();
    for (const task of ['https://10.0.0.1/x', 'https://169.254.169.254/', 'https://[::1]/', 'http://example.org/']) {
      const create = await own.fails('POST', '/v1/cron/create', { task, cron_expr: '* * * * *' });
      expect(create.slice(0, 2), task).toEqual(['WEBHOOK_URL_REJECTED', 'task']);
      expect((await own.fails('PATCH', `/v1/cron/update/${id}`, { task })).slice(0, 2)).toEqual(create.slice(0, 2));
    }
  });

  test('the number of jobs is limited by tier; completed ones do not count', async () => {
    const own = await bench.withAccount();
    await own.core.db.query(
      {
        name: 'test_fill_jobs',
        text: `INSERT INTO cron.job (account_id, job_id, key_id, task_url, timezone, status, secret, secret_last4, created_at, updated_at)
               SELECT $1, 'cron_' || lpad(n::text, 22, '0'), 'key_x', 'https://example.org', 'UTC',
                      CASE WHEN n <= 99 THEN 'paused' ELSE 'completed' END, ''::bytea, '', now(), now()
                 FROM generate_series(1, 150) n`,
      },
      [own.account.accountId],
    );
    await own.create();
    expect((await own.fails('POST', '/v1/cron/create', { task: own.receiver.url(), cron_expr: '* * * * *' }))[0]).toBe(
      'QUOTA_EXCEEDED',
    );
    await own.core.db.transaction((tx) => setTier(tx, own.account.accountId, 'pro'));
    await eventually(
      async () =>
        (await own.call('POST', '/v1/cron/create', { task: own.receiver.url(), cron_expr: '* * * * *' })).status ===
        200,
    );
  });
});

describe('list and runs', () => {
  test('pages go from the newest to the oldest, by status', async () => {
    const own = await bench.withAccount();
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift((await own.create({ cron_expr: '0 0 1 1 *', payload: { i } })).job_id);
    await own.ok('POST', `/v1/cron/pause/${ids[1]}`);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await own.ok('GET', `/v1/cron/list?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.items.map((job: { job_id: string }) => job.job_id));
      expect(page.items[0].payload).toBeUndefined();
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids);
    const paused = await own.ok('GET', '/v1/cron/list?status=paused');
    expect(paused.items.map((job: { job_id: string }) => job.job_id)).toEqual([ids[1]]);
    const page = await own.ok('GET', '/v1/cron/list?limit=2');
    expect(await own.fails('GET', `/v1/cron/list?status=active&cursor=${page.next_cursor}`)).toEqual([
      'INVALID_CURSOR',
      'cursor',
      undefined,
    ]);
  });

  test('runs are paged too', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create();
    const slots: string[] = [];
    for (let i = 0; i < 3; i += 1) slots.unshift((await own.runNext(id)).scheduled_at);
    const first = await own.ok('GET', `/v1/cron/runs/${id}?limit=2`);
    const second = await own.ok('GET', `/v1/cron/runs/${id}?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((run) => run.scheduled_at)).toEqual(slots);
    expect([first.has_more, second.has_more]).toEqual([true, false]);
  });
});

test('scopes: cron:read reads, cron:write changes', async () => {
  const own = await bench.withAccount();
  const { job_id: id } = await own.create();
  const reader = client(own.service.url, (await createTestAccount(own.core, 1, ['cron:read'])).secret);
  expect((await reader('GET', '/v1/cron/list')).status).toBe(200);
  expect((await reader('POST', `/v1/cron/pause/${id}`)).status).toBe(403);
  const writer = client(own.service.url, (await createTestAccount(own.core, 1, ['cron:write'])).secret);
  expect((await writer('POST', '/v1/cron/create', { task: own.receiver.url(), cron_expr: '* * * * *' })).status).toBe(
    200,
  );
});
