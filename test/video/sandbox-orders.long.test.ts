// What a prompt orders of the sandbox costs nobody else anything: no thread waits for it. And a job whose process dies again and again is
// given up.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { eventually } from '../cron/harness.ts';
import { QUICK, VideoBench } from './harness.ts';

let bench: VideoBench;
beforeAll(async () => {
  // The least that an operator may set.
  bench = await VideoBench.start({ VIDEO_SANDBOX_THREADS: '1' });
});
afterAll(() => bench.service.stop());

describe('[[hang]]', () => {
  test('keeps no video of anybody from being made, and expires after ten minutes, for nothing', async () => {
    const [hanging, other] = [await bench.withAccount(1), await bench.withAccount(1)];
    const jobs = await Promise.all(Array.from({ length: 9 }, () => hanging.generate({ prompt: 'Wait. [[hang]]' })));
    for (const { job_id: id } of jobs) await hanging.running(id);
    expect(await other.ended((await other.generate()).job_id)).toMatchObject({ state: 'succeeded' });
    expect(await hanging.ended((await hanging.generate()).job_id)).toMatchObject({ state: 'succeeded' });
    await bench.service.advance(601);
    for (const { job_id: id } of jobs)
      expect(await hanging.ended(id)).toMatchObject({ state: 'expired', end_reason: 'deadline', cost_usd: 0 });
    expect(await hanging.balance()).toEqual({ balance: 0.999, held: 0 });
    expect(await hanging.findings()).toEqual([]);
  });
});

describe('[[slow:SECONDS]]', () => {
  test('takes so much longer and says how far it is, while others are served', async () => {
    const [slow, other] = [await bench.withAccount(1), await bench.withAccount(1)];
    const { job_id: id } = await slow.generate({ prompt: '[[slow:60]] A boat.' });
    await slow.running(id);
    expect(await other.ended((await other.generate()).job_id)).toMatchObject({ state: 'succeeded' });
    await bench.service.advance(30);
    const half = await eventually(async () => {
      const status = await slow.ok('GET', `/v1/video/status/${id}`);
      return status.progress_pct >= 50 ? status : null;
    }, 120_000);
    expect(half).toMatchObject({ state: 'running', current_step: 'rendering' });
    await bench.service.advance(31);
    const done = await slow.ended(id);
    expect(done).toMatchObject({ state: 'succeeded', cost_usd: 0.001 });
    expect(Date.parse(done.finished_at) - Date.parse(done.created_at)).toBeGreaterThan(60_000);
  });
});

describe('a job whose process died while it ran', () => {
  /** As a process leaves it that was killed in the step, after `deaths` others. */
  async function orphan(own: VideoBench, id: string, deaths: number): Promise<void> {
    const { accountId } = own.account;
    const text =
      "UPDATE video.job SET leased = true, deaths = $3, due_at = core.clock_now() - interval '1 second' WHERE account_id = $1 AND job_id = $2";
    await own.service.core.db.transaction(async (tx) => {
      await tx.query({ name: 'test_orphan', text }, [accountId, id, deaths]);
      await openTurn(tx, accountId, 'video.sandbox', 0);
    });
  }

  test('once is made by the next', async () => {
    const own = await bench.withAccount(1);
    const { job_id: id } = await own.generate({ prompt: '[[slow:300]] A boat.' });
    await own.running(id);
    await orphan(own, id, 0);
    await bench.service.advance(301);
    expect(await own.ended(id)).toMatchObject({ state: 'succeeded', cost_usd: 0.001 });
  });

  test('twice is given up, for nothing', async () => {
    const own = await bench.withAccount(1);
    const { job_id: id } = await own.generate({ prompt: '[[slow:300]] A boat.' });
    await own.running(id);
    await orphan(own, id, 1);
    const message = 'The process died 2 times while this job ran. It is not tried again.';
    expect(await own.ended(id)).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'INTERNAL_ERROR', message },
    });
    expect(await own.balance()).toEqual({ balance: 1, held: 0 });
    expect(await own.ended((await own.generate(QUICK)).job_id)).toMatchObject({ state: 'succeeded' });
    expect(await own.findings()).toEqual([]);
  });
});
