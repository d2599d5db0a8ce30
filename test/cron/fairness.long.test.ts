// One account with many due jobs, or with tasks that never answer, does not keep the others waiting.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byteaArray, textArray } from '../../src/db/arrays.ts';
import { sealSecret } from '../../src/modules/cron/jobs/records.ts';
import { allowedMs } from '../support/slowness.ts';
import { CronBench, eventually } from './harness.ts';

let bench: CronBench;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

/** Gives the account `count` further jobs like the one that it has. */
async function multiply(own: CronBench, jobId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => jobId + n);
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const text = `INSERT INTO cron.job (account_id, job_id, key_id, task_url, cron_expr, timezone, status, next_run_at, secret, secret_last4, created_at, updated_at)
                SELECT j.account_id, u.job_id, j.key_id, j.task_url, j.cron_expr, j.timezone, 'active', j.next_run_at, u.secret, '', j.created_at, j.updated_at
                  FROM cron.job j, unnest($2::text[], $3::bytea[]) u(job_id, secret) WHERE j.job_id = $1`;
  const sealed = ids.map((id) => sealSecret(own.core.secrets, id, secret));
  await own.core.db.query({ name: 'test_multiply', text }, [jobId, textArray(ids), byteaArray(sealed)]);
}

test('10,000 due jobs of one account do not delay the job of another', async () => {
  const [many, one] = [await bench.withAccount(), await bench.withAccount()];
  const slow = await many.create({ task: many.receiver.url() });
  await multiply(many, slow.job_id, 10_000);
  const { job_id: id } = await one.create();
  await bench.advanceTo(slow.next_run_at);
  await eventually(async () => (await many.runs(slow.job_id)).length > 0 || (await countRuns(many)) > 0);
  const { next_run_at: slot } = await one.create();
  await bench.advanceTo(slot);
  const begunMs = performance.now();
  expect(await one.ended(id, slot)).toMatchObject({ status: 'succeeded' });
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(3_000));
  expect(await countRuns(many)).toBeLessThan(10_000);
  await many.core.db.query({ name: 'test_unmultiply', text: 'DELETE FROM cron.job WHERE account_id = $1' }, [
    many.account.accountId,
  ]);
});

async function countRuns(own: CronBench): Promise<number> {
  const count = { name: 'test_count_runs', text: 'SELECT count(*) AS runs FROM cron.run WHERE account_id = $1' };
  const { rows } = await own.core.db.query<{ runs: bigint }>(count, [own.account.accountId]);
  return Number(rows[0]?.runs);
}

test('accounts whose tasks never answer take no place from a newcomer', async () => {
  const hanging = await Promise.all(Array.from({ length: 4 }, () => bench.withAccount()));
  for (const own of hanging) {
    own.receiver.answer = () => undefined;
    const { job_id: id } = await own.create();
    await multiply(own, id, 300);
  }
  const newcomer = await bench.withAccount();
  const { job_id: id, next_run_at: slot } = await newcomer.create();
  await bench.advanceTo(slot);
  const begunMs = performance.now();
  expect(await newcomer.ended(id, slot)).toMatchObject({ status: 'succeeded' });
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(5_000));
  await eventually(() => hanging.reduce((sum, own) => sum + own.receiver.received.length, 0) > 150);
  // A second one comes while all of them hang.
  const second = await newcomer.runNext(id);
  expect(second).toMatchObject({ status: 'succeeded', attempt: 1 });
});
