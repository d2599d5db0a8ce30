// Vendors that answer rubbish, pages, without end, or not at all, whatever they are asked: it costs callers nothing and the service no
// memory, and the jobs of others go on meanwhile.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTier } from '../../src/core/accounts/accounts.ts';
import { allowedMs } from '../support/slowness.ts';
import type { Fault } from '../support/vendors/double.ts';
import type { VideoBehaviour } from '../support/vendors/videos.ts';
import { falWire } from '../support/vendors/wires.ts';
import type { Data, VideoBench } from './harness.ts';
import { PER_SECOND, VendorBench, type VendorOptions } from './vendors-harness.ts';

const FAULTS = ['html', 'rubbish', 'endless', 'silent'] as const satisfies readonly Fault[];

/** Never reached: nothing private is. */
const inside = createServer((_, res) => void res.end('secret'));
let insideCalls = 0;
inside.on('request', () => (insideCalls += 1));

/** What the host of files gives, and how the job ends: a video that never comes whole is waited for until the deadline. */
const videos = (): Record<string, [VideoBehaviour, 'failed' | 'expired']> => ({
  'four-gib': ['huge', 'failed'],
  metadata: [{ redirectTo: 'http://169.254.169.254/latest/meta-data/' }, 'failed'],
  private: [{ redirectTo: `http://127.0.0.1:${(inside.address() as AddressInfo).port}/` }, 'failed'],
  circle: ['loop', 'failed'],
  garbled: ['garbled', 'expired'],
  endless: ['endless', 'expired'],
  silent: ['silent', 'expired'],
  stalls: ['stalls', 'expired'],
  breaks: ['breaks', 'expired'],
});

/** An account that may have 500 live jobs. */
async function wide(bench: VendorBench): Promise<VideoBench> {
  const own = await bench.withAccount(1_000);
  await bench.service.core.db.transaction((tx) => setTier(tx, own.account.accountId, 'enterprise'));
  return own;
}

describe('a vendor that answers', () => {
  let bench: VendorBench;
  beforeAll(async () => {
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const slow = (timeouts: Data, model: Data = {}): Partial<VendorOptions> => ({ entry: { timeouts }, model });
    const of = (kind: string, timeouts: Data) =>
      FAULTS.map((fault) => ({ id: `${kind}-${fault}`, wire: falWire, ...slow(timeouts) }));
    bench = await VendorBench.at([
      ...of('submit', { submit_ms: 400 }),
      ...of('poll', { poll_ms: 400 }),
      ...of('cancel', { poll_ms: 400 }),
      ...Object.entries(videos()).map(([id, [video]]) => ({
        id,
        wire: falWire,
        video,
        ...slow({ download_ms: 400, idle_ms: 200 }, { deadline_minutes: 1 }),
      })),
    ]);
  });
  afterAll(async () => {
    await bench.close();
    inside.close();
  });

  describe.each(FAULTS)('%s', (fault) => {
    test('to a job: it is sent nowhere again, and after ten minutes nothing is charged', async () => {
      const double = bench.double(`submit-${fault}`);
      const before = await bench.balance();
      double.script('submit', fault);
      const { job_id: id } = await bench.job({ vendor: `submit-${fault}`, duration_seconds: 5 });
      await bench.until(() => double.count('submit') === 1);
      await bench.until(async () => (await bench.get(id)).state === 'queued');
      await bench.service.advance(601);
      expect(await bench.soon(id)).toMatchObject({
        state: 'failed',
        cost_usd: 0,
        error: { code: 'VENDOR_TIMEOUT', code_detail: 'outcome_unknown' },
      });
      expect([double.count('submit'), await bench.balance()]).toEqual([1, before]);
    });

    test('to the question how far it is: the job goes on, and is made', async () => {
      const double = bench.double(`poll-${fault}`);
      double.script('poll', fault, fault);
      // JSON without a video is a video that failed.
      if (fault !== 'rubbish') double.script('result', fault);
      const job = await bench.soon((await bench.job({ vendor: `poll-${fault}`, duration_seconds: 2 })).job_id);
      expect(job).toMatchObject({ state: 'succeeded', error: null });
      expect(job.cost_usd).toBeCloseTo(2 * 1.05 * PER_SECOND, 9);
      expect(double.count('poll')).toBeGreaterThan(2);
    });

    test('to a cancel: the job is cancelled at once, and charged for what the vendor bills: nothing', async () => {
      const before = await bench.balance();
      const double = bench.double(`cancel-${fault}`);
      const { id, at } = await bench.taken(`cancel-${fault}`);
      double.script('cancel', fault);
      const job = await bench.ok('POST', `/v1/video/cancel/${id}`);
      expect(job).toMatchObject({ state: 'cancelled', cancel: { may_be_charged: expect.any(Boolean) } });
      at.state = 'cancelled';
      expect(await bench.soon(id, ({ cost_usd }) => cost_usd !== null)).toMatchObject({
        state: 'cancelled',
        cost_usd: 0,
      });
      expect(await bench.balance()).toEqual(before);
    });
  });

  test('with a video that is none, has no end, does not come, or is somewhere private: nothing is charged or kept', async () => {
    const before = await bench.balance();
    const begun = Object.entries(videos()).map(async ([vendor, [, state]]) => {
      return { vendor, state, id: (await bench.job({ vendor, duration_seconds: 3 })).job_id };
    });
    const jobs = await Promise.all(begun);
    const asked = (vendor: string) => bench.double(vendor).assetCalls.length > 0;
    await bench.soon(jobs[0]?.id, () => jobs.every(({ vendor }) => asked(vendor)));
    await bench.service.advance(61);
    for (const { id, state, vendor } of jobs) {
      const job = await bench.soon(id);
      expect(job, vendor).toMatchObject({ state, cost_usd: 0, video_url: null, size_bytes: null });
      expect(job.error?.code_detail, vendor).toBe(state === 'failed' ? 'unsound_video' : undefined);
    }
    expect(insideCalls).toBe(0);
    expect(await bench.balance()).toEqual(before);
    const owed = (cause: string) =>
      Object.entries(videos()).filter(([, [, state]]) => (state === 'failed') === (cause === 'unsound'));
    // What these vendors bill for is the operator's loss.
    await bench.soon(jobs[0]?.id as string, async () => {
      const books = await bench.books();
      return ['unsound', 'late'].every((cause) =>
        owed(cause).every(([id]) => books[`${id} ${cause}`]?.billed === 3 * PER_SECOND),
      );
    });
    expect(await bench.findings()).toEqual([]);
  });
});

test('three hundred jobs of an account at a silent vendor do not keep another account’s job waiting', async () => {
  const bench = await VendorBench.at([
    { id: 'mute', wire: falWire },
    { id: 'good', wire: falWire },
  ]);
  const [many, mute] = [await wide(bench), bench.double('mute')];
  mute.script('submit', ...Array.from({ length: 300 }, () => 'silent' as const));
  await Promise.all(Array.from({ length: 300 }, () => many.generate({ model: 'auto', vendor: 'mute' })));
  await bench.until(() => mute.count('submit') > 16);
  const begunMs = performance.now();
  expect(await bench.soon((await bench.job({ vendor: 'good' })).job_id)).toMatchObject({
    state: 'succeeded',
    vendor: 'good',
  });
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(5_000));
  expect(mute.count('submit')).toBeLessThan(64);
  await mute.close();
  await bench.close();
}, 120_000);
