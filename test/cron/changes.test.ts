// Jobs as their owner changes, stops and deletes them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CronBench, eventually } from './harness.ts';

let bench: CronBench;
// Long enough for two looks at what is due.
const SETTLE_MS = 1_200;

beforeAll(async () => {
  bench = await CronBench.start();
});
afterAll(() => bench.stop());

describe('pause and resume', () => {
  test('a paused job does not run, and what was missed is not made up for', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ cron_expr: '0 * * * *' });
    expect(await own.ok('POST', `/v1/cron/pause/${id}`)).toMatchObject({ status: 'paused', next_run_at: null });
    expect(await own.ok('POST', `/v1/cron/pause/${id}`)).toMatchObject({ status: 'paused' });
    await own.advanceTo(7_200);
    await sleep(SETTLE_MS);
    const resumed = await own.ok('POST', `/v1/cron/resume/${id}`);
    expect(resumed.status).toBe('active');
    expect(Date.parse(resumed.next_run_at)).toBeGreaterThan(await own.nowMs());
    expect(await own.ok('POST', `/v1/cron/resume/${id}`)).toEqual(resumed);
    await sleep(SETTLE_MS);
    expect(await own.runs(id)).toEqual([]);
    expect(await own.runNext(id)).toMatchObject({ scheduled_at: resumed.next_run_at, status: 'succeeded' });
  });

  test('a run_at that passed while paused is a conflict until another is set', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ run_at: new Date((await own.nowMs()) + 60_000).toISOString() });
    await own.ok('POST', `/v1/cron/pause/${id}`);
    await own.advanceTo(120);
    expect((await own.fails('POST', `/v1/cron/resume/${id}`))[0]).toBe('STATE_CONFLICT');
    const later = new Date((await own.nowMs()) + 60_000).toISOString();
    expect(await own.update(id, { run_at: later })).toMatchObject({ status: 'paused', next_run_at: null });
    expect(await own.ok('POST', `/v1/cron/resume/${id}`)).toMatchObject({ next_run_at: later });
  });

  test('a completed job can be neither paused, resumed nor changed', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ run_at: new Date((await own.nowMs()) + 60_000).toISOString() });
    await own.runNext(id);
    await eventually(async () => (await own.get(id)).status === 'completed');
    expect((await own.fails('POST', `/v1/cron/pause/${id}`))[0]).toBe('STATE_CONFLICT');
    expect((await own.fails('POST', `/v1/cron/resume/${id}`))[0]).toBe('STATE_CONFLICT');
    expect((await own.fails('PATCH', `/v1/cron/update/${id}`, { name: 'x' }))[0]).toBe('STATE_CONFLICT');
    expect(await own.ok('DELETE', `/v1/cron/delete/${id}`)).toEqual({ job_id: id, deleted: true });
  });

  test('paused while a run is under way: that run is finished', async () => {
    const own = await bench.withAccount();
    let finish = () => undefined as unknown;
    own.receiver.answer = (_call, response) => {
      finish = () => response.end();
    };
    const { job_id: id, next_run_at: slot } = await own.create();
    await own.advanceTo(61);
    await eventually(() => own.receiver.received.length === 1);
    await own.ok('POST', `/v1/cron/pause/${id}`);
    finish();
    expect(await own.ended(id, slot)).toMatchObject({ status: 'succeeded' });
    expect(await own.get(id)).toMatchObject({ status: 'paused', last_run: { status: 'succeeded' } });
  });
});

describe('update', () => {
  test('what is absent stays, null clears', async () => {
    const own = await bench.withAccount();
    const fields = { name: 'a', payload: { n: 1 }, headers: { 'x-a': 'secret-value' }, cron_expr: '0 9 * * *' };
    const before = await own.create({ ...fields, timezone: 'Europe/Berlin' });
    const { secret: _once, ...shown } = before;
    expect(await own.update(before.job_id, {})).toEqual({ ...shown, updated_at: expect.any(String) });
    const cleared = await own.update(before.job_id, { name: null, payload: null, headers: null });
    expect(cleared).toMatchObject({ name: null, payload: null, headers: {}, next_run_at: before.next_run_at });
    const moved = await own.update(before.job_id, { timezone: 'Asia/Tokyo' });
    expect(moved).toMatchObject({ cron_expr: '0 9 * * *', next_run_at: expect.stringMatching(/T00:00:00\.000Z$/) });
  });

  test('a schedule of the other kind takes the place of the first', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create();
    const at = new Date((await own.nowMs()) + 3_600_000).toISOString();
    expect(await own.update(id, { run_at: at })).toMatchObject({ cron_expr: null, run_at: at, next_run_at: at });
    expect(await own.update(id, { cron_expr: '0 * * * *' })).toMatchObject({ cron_expr: '0 * * * *', run_at: null });
    expect(await own.update(id, { cron_expr: null, run_at: at })).toMatchObject({ cron_expr: null, run_at: at });
    expect(await own.fails('PATCH', `/v1/cron/update/${id}`, { run_at: null })).toEqual([
      'VALIDATION_FAILED',
      'cron_expr',
      'required',
    ]);
    expect((await own.fails('PATCH', `/v1/cron/update/${id}`, { run_at: '2020-01-01T00:00:00Z' }))[2]).toBe('past');
  });

  test('an earlier schedule is noticed, and the next run is the changed one', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create({ cron_expr: '0 0 1 1 *', payload: 1 });
    const changed = await own.update(id, { cron_expr: '* * * * *', task: own.receiver.url('/other'), payload: [2] });
    expect(await own.runNext(id)).toMatchObject({ scheduled_at: changed.next_run_at, status: 'succeeded' });
    expect(own.receiver.received).toMatchObject([{ path: '/other', body: { payload: [2] } }]);
  });

  test('a new secret signs at once, and the old one beside it for a day', async () => {
    const own = await bench.withAccount();
    const before = await own.create({ cron_expr: '0 * * * *' });
    const changed = await own.update(before.job_id, { secret: null });
    expect(changed.secret).not.toBe(before.secret);
    expect((await own.get(before.job_id)).secret_last4).toBe(changed.secret.slice(-4));
    const verifies = (secret: string) => {
      const { text, headers } = own.receiver.received.at(-1) as { text: string; headers: object };
      try {
        return new Webhook(secret).verify(text, headers as Record<string, string>) !== undefined;
      } catch {
        return false;
      }
    };
    await own.runNext(before.job_id);
    expect([verifies(before.secret), verifies(changed.secret)]).toEqual([true, true]);
    await own.advanceTo(24 * 3_600);
    await eventually(
      async () => (await own.runs(before.job_id)).filter((run) => run.finished_at !== null).length === 2,
    );
    await own.runNext(before.job_id);
    expect([verifies(before.secret), verifies(changed.secret)]).toEqual([false, true]);
  });
});

describe('delete', () => {
  test('the job is gone, and is not found again', async () => {
    const own = await bench.withAccount();
    const { job_id: id } = await own.create();
    expect(await own.ok('DELETE', `/v1/cron/delete/${id}`)).toEqual({ job_id: id, deleted: true });
    for (const [method, path] of [
      ['GET', 'get'],
      ['GET', 'runs'],
      ['PATCH', 'update'],
      ['POST', 'pause'],
      ['POST', 'resume'],
      ['DELETE', 'delete'],
    ] as const) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined;
      expect(await own.fails(method, `/v1/cron/${path}/${id}`, body), path).toEqual([
        'JOB_NOT_FOUND',
        'job_id',
        undefined,
      ]);
    }
    await own.advanceTo(120);
    await sleep(SETTLE_MS);
    expect(own.receiver.received).toEqual([]);
  });

  test('a run that is under way is finished and told', async () => {
    const own = await bench.withAccount();
    let finish = () => undefined as unknown;
    own.receiver.answer = (_call, response) => {
      finish = () => response.end();
    };
    const { job_id: id } = await own.create();
    await own.advanceTo(61);
    await eventually(() => own.receiver.received.length === 1);
    await own.ok('DELETE', `/v1/cron/delete/${id}`);
    finish();
    const [event] = await eventually(async () => {
      const events = await own.cronEvents();
      return events.length > 0 && events;
    });
    expect(event).toMatchObject({ type: 'cron.executed', object: { job_id: id, status: 'succeeded' } });
  });
});
