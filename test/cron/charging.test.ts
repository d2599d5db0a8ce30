// Each run is charged exactly once, with its record: wallet, ledger, usage, the module's own count and the doctor agree.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { client } from '../support/service.ts';
import { CronBench, eventually, RUN_NANOS } from './harness.ts';

let bench: CronBench;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

/** Runs of the job that are over, oldest first. */
async function over(own: CronBench, id: string, count: number) {
  const runs = await eventually(async () => {
    const ended = (await own.runs(id)).filter((run) => run.finished_at !== null);
    return ended.length >= count && ended;
  });
  expect(runs).toHaveLength(count);
  return runs.reverse();
}

describe('a run that the wallet covers', () => {
  test('costs 0.00002 USD in balance, ledger, usage and the books of the doctor', async () => {
    const own = await bench.withAccount(5);
    const jobs = [await own.create(), await own.create(), await own.create()];
    // Three slots passed: one run. And one more.
    await own.advanceTo(181);
    for (const { job_id: id } of jobs) await over(own, id, 1);
    await own.advanceTo(60);
    for (const { job_id: id } of jobs) await over(own, id, 2);
    const units = 6;
    const spent = units * 0.00002;
    const balance = await own.ok('GET', '/v1/account/balance');
    expect(balance.balance_usd).toBeCloseTo(5 - spent, 9);
    expect(await own.spentNanos()).toBe(BigInt(units) * RUN_NANOS);
    const ledger = await own.ok('GET', '/v1/account/ledger/list?limit=100&capability=cron.run');
    for (const entry of ledger.items) {
      expect(entry).toMatchObject({ kind: 'charge', key_id: own.account.keyId, price_version: expect.any(String) });
      expect(entry.amount_usd).toBeCloseTo(-entry.units * 0.00002, 9);
    }
    const usage = await own.ok('GET', '/v1/account/usage');
    expect(usage.by_capability.find((row: { capability: string }) => row.capability === 'cron.run')).toEqual({
      capability: 'cron.run',
      count: 0,
      error_count: 0,
      units,
      spend_usd: expect.closeTo(spent, 9),
    });
    expect(usage.spend_usd).toBeCloseTo(spent, 9);
    expect(await own.findings()).toEqual([]);
  });

  test('that takes the balance below the threshold tells wallet.low_balance, once', async () => {
    const own = await bench.withAccount(1.000_03);
    const { job_id: id } = await own.create();
    for (let i = 0; i < 3; i += 1) await own.runNext(id);
    const low = (await own.events()).filter(({ type }) => type === 'wallet.low_balance');
    expect(low).toHaveLength(1);
    expect(low[0]?.object.balance_usd).toBeCloseTo(0.999_99, 9);
  });

  test('counts in the budget and tells its alert threshold', async () => {
    const own = await bench.withAccount();
    await own.ok('PUT', '/v1/account/budget/set', {
      period: 'monthly',
      hard_cap_usd: null,
      alert_threshold_usd: 0.000_02,
    });
    const { job_id: id } = await own.create();
    await own.runNext(id);
    expect((await own.ok('GET', '/v1/account/budget/get')).used_usd).toBeCloseTo(0.000_02, 9);
    expect((await own.events()).map(({ type }) => type)).toContain('wallet.low_balance');
  });
});

describe('a run that may not be charged is skipped: recorded, told, free, never sent; and the job stays active', () => {
  test('no credit: with more credit the next slot runs', async () => {
    const own = await bench.withAccount(0);
    const { job_id: id } = await own.create({ name: 'report' });
    const skipped = await own.runNext(id);
    expect(skipped).toMatchObject({
      status: 'skipped',
      error_code: 'insufficient_credit',
      http_status: null,
      latency_ms: null,
      cost_usd: 0,
      finished_at: skipped.started_at,
    });
    expect(await own.cronEvents()).toEqual([{ type: 'cron.failed', object: { ...skipped, job_name: 'report' } }]);
    expect(await own.get(id)).toMatchObject({ status: 'active', next_run_at: expect.any(String), last_run: skipped });
    expect(own.receiver.received).toEqual([]);
    expect(await own.spentNanos()).toBe(0n);
    const credit = { kind: 'paid', amountNanos: RUN_NANOS, expiresInMs: null, note: null } as const;
    await own.core.db.transaction((tx) => grantCredit(tx, own.account.accountId, credit));
    expect(await own.runNext(id)).toMatchObject({ status: 'succeeded', cost_usd: 0.00002 });
    expect(await own.runNext(id)).toMatchObject({ status: 'skipped' });
    expect(own.receiver.received).toHaveLength(1);
    expect((await own.ok('GET', '/v1/account/balance')).balance_usd).toBe(0);
    expect(await own.findings()).toEqual([]);
  });

  test('of several that are due together exactly as many run as the wallet covers', async () => {
    const own = await bench.withAccount(0.000_07);
    const jobs = [];
    for (let i = 0; i < 6; i += 1) jobs.push(await own.create({ name: `${i}` }));
    await own.advanceTo(jobs[0].next_run_at);
    const runs = [];
    for (const { job_id: id } of jobs) runs.push((await over(own, id, 1))[0]);
    expect(runs.map((run) => run.status).sort()).toEqual([...Array(3).fill('skipped'), ...Array(3).fill('succeeded')]);
    expect((await own.ok('GET', '/v1/account/balance')).balance_usd).toBeCloseTo(0.000_01, 9);
    expect(await own.findings()).toEqual([]);
  });

  test('the budget is used up', async () => {
    const own = await bench.withAccount();
    await own.ok('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 0, alert_threshold_usd: null });
    const { job_id: id } = await own.create();
    expect(await own.runNext(id)).toMatchObject({ status: 'skipped', error_code: 'budget_daily', cost_usd: 0 });
    expect(own.receiver.received).toEqual([]);
  });

  test('the spend cap of the key that made the job is used up, also when the key is revoked', async () => {
    const own = await bench.withAccount();
    const made = await own.ok('POST', '/v1/account/keys/create', { spend_cap_usd: 0.000_02 });
    const { body } = await client(own.service.url, made.key_secret)('POST', '/v1/cron/create', {
      task: own.receiver.url(),
      cron_expr: '* * * * *',
    });
    await own.ok('DELETE', `/v1/account/keys/revoke/${made.key_id}`);
    expect(await own.runNext(body.data.job_id)).toMatchObject({ status: 'succeeded', cost_usd: 0.000_02 });
    expect(await own.runNext(body.data.job_id)).toMatchObject({
      status: 'skipped',
      error_code: 'key_cap',
      cost_usd: 0,
    });
    expect(await own.findings()).toEqual([]);
  });

  test('the account is suspended', async () => {
    const own = await bench.withAccount();
    const { job_id: id, next_run_at: slot } = await own.create();
    const suspend = (suspended: boolean) =>
      own.core.db.transaction((tx) => setSuspended(tx, own.account.accountId, suspended));
    await suspend(true);
    await own.advanceTo(slot);
    const find = { name: 'test_cron_skipped', text: `SELECT error_code FROM cron.run WHERE account_id = $1` };
    await eventually(async () => (await own.core.db.query(find, [own.account.accountId])).rows.length === 1);
    await suspend(false);
    expect(
      await eventually(async () => ((await own.call('GET', `/v1/cron/runs/${id}`)).body.data?.items ?? [])[0]),
    ).toMatchObject({
      scheduled_at: slot,
      status: 'skipped',
      error_code: 'account_suspended',
      cost_usd: 0,
    });
    expect(await own.runNext(id)).toMatchObject({ status: 'succeeded' });
  });

  test('a job for one time is completed by it', async () => {
    const own = await bench.withAccount(0);
    const { job_id: id } = await own.create({ run_at: new Date((await own.nowMs()) + 60_000).toISOString() });
    expect(await own.runNext(id)).toMatchObject({ status: 'skipped' });
    expect(await own.get(id)).toMatchObject({ status: 'completed', next_run_at: null });
  });
});

test('calls and runs of one account at once: nothing is lost or charged twice', async () => {
  const own = await bench.withAccount(1);
  await own.ok('POST', '/v1/queue/create', { name: 'busy' });
  const jobs = await Promise.all(Array.from({ length: 20 }, () => own.create()));
  await own.advanceTo(jobs[0].next_run_at);
  const publishes = Array.from({ length: 100 }, () =>
    own.call('POST', '/v1/queue/publish', { queue: 'busy', payload: {} }),
  );
  expect((await Promise.all(publishes)).map(({ status }) => status)).toEqual(Array(100).fill(200));
  for (const { job_id: id } of jobs) expect((await over(own, id, 1))[0]).toMatchObject({ status: 'succeeded' });
  expect(await own.spentNanos()).toBe(20n * RUN_NANOS);
  expect((await own.ok('GET', '/v1/account/balance')).balance_usd).toBeCloseTo(1 - 120 * 0.00002, 9);
  expect(await own.findings()).toEqual([]);
});
