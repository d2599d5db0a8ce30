// Processes that work on jobs at vendors, killed at each step: nothing is submitted twice, each job ends once, and the money is right.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { eventually } from '../cron/harness.ts';
import { createPlace, launch, type Place, type ServiceProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { isSoak, rounds } from '../support/soak.ts';
import type { VendorDouble } from '../support/vendors/double.ts';
import { falWire, replicateWire } from '../support/vendors/wires.ts';
import { aVideo, PER_SECOND, VendorBench } from '../video/vendors-harness.ts';

/** The vendor that lists its jobs tells them apart by their callbacks. */
const BASE_URL = 'https://qm.example.com';

const ROUNDS = rounds(8);

let bench: VendorBench;
let place: Place;
let worker: ServiceProcess;
beforeAll(async () => {
  // It takes the calls; the work is done by processes that die.
  bench = await VendorBench.at(
    [
      { id: 'bolt', wire: falWire },
      { id: 'corp', wire: replicateWire },
    ],
    { ROLES: 'web,render', BASE_URL },
  );
  const { VENDORS_FILE, ASSETS_URL } = bench.env;
  place = await createPlace({
    DATABASE_URL: bench.service.database.url,
    ROLES: 'work,render',
    TEST_CLOCK: 'on',
    SECRETS_KEY,
    BASE_URL,
    VENDORS_FILE,
    ASSETS_URL,
  } as Record<string, string>);
});
afterAll(async () => {
  await place.remove();
  await bench.close();
});
beforeEach(async () => {
  for (const double of bench.doubles.values()) {
    double.forget();
    Object.assign(double, { endsAfterPolls: 1, video: { bytes: await aVideo() } });
  }
  worker = launch(place);
});
afterEach(() => worker.end('SIGTERM'));

/** Dies as it is, and another one begins. */
async function dies(): Promise<void> {
  await worker.end('SIGKILL');
  worker = launch(place);
}

/** Begins a job at the vendor, and answers once it is as far as `isThere` says. */
async function begun(vendor: string, isThere: (double: VendorDouble, before: number) => unknown): Promise<string> {
  const double = bench.double(vendor);
  const before = double.count('submit');
  const { job_id: id } = await bench.job({ vendor, duration_seconds: 2 });
  await eventually(async () => {
    if (await isThere(double, before)) return true;
    if (double.count('submit') > before) await bench.service.advance(1);
    return false;
    // A vendor that timed out while the machine was busy is let alone for half a minute.
  });
  return id;
}

async function expectSold(id: string, submits: number): Promise<void> {
  const job = await bench.soon(id);
  expect(job).toMatchObject({ state: 'succeeded', cost_usd: 2 * PER_SECOND * 1.05 });
  expect(bench.double(job.vendor).count('submit')).toBe(submits + 1);
  expect((await fetch(job.video_url.replace(BASE_URL, bench.service.url))).status).toBe(200);
  await expectClean();
}

async function expectClean(): Promise<void> {
  expect((await bench.balance()).held).toBe(0);
  expect(await bench.findings()).toEqual([]);
}

const submitted = (double: VendorDouble, before: number) => double.count('submit') > before;

test('while it sends: whether the vendor has it is not known, nobody is asked again, and nothing is charged', async () => {
  const double = bench.double('bolt');
  const before = double.count('submit');
  double.script('submit', 'silent');
  const id = await begun('bolt', submitted);
  await dies();
  await bench.service.advance(601);
  const job = await bench.soon(id);
  expect(job).toMatchObject({ state: 'failed', cost_usd: 0, error: { code_detail: 'outcome_unknown' } });
  expect(double.count('submit')).toBe(before + 1);
  await expectClean();
});

test.runIf(isSoak)(
  'when the vendor has taken it, and its answer was not heard: it is found among the vendor’s jobs',
  async () => {
    const before = bench.double('corp').count('submit');
    bench.double('corp').script('submit', 'mute');
    const id = await begun('corp', submitted);
    await dies();
    await expectSold(id, before);
  },
);

test.runIf(isSoak)('when the reference is written: the next process asks for it', async () => {
  const double = bench.double('bolt');
  double.endsAfterPolls = null;
  const before = double.count('submit');
  const id = await begun('bolt', ({ jobs }, n) => double.count('submit') > n && (jobs.at(-1)?.polls ?? 0) > 0);
  await dies();
  double.endsAfterPolls = 1;
  await expectSold(id, before);
});

test.runIf(isSoak)('in half of a download: the next process fetches it again', async () => {
  const double = bench.double('bolt');
  double.video = 'stalls';
  const before = [double.count('submit'), double.assetCalls.length] as const;
  const id = await begun('bolt', () => double.assetCalls.length > before[1]);
  await dies();
  double.video = { bytes: await aVideo() };
  await expectSold(id, before[0]);
  expect(double.assetCalls.length).toBeGreaterThan(before[1] + 1);
});

test('when the bytes are kept: the next process finds them, and fetches nothing again', async () => {
  const double = bench.double('bolt');
  double.endsAfterPolls = null;
  const before = [double.count('submit'), double.assetCalls.length] as const;
  const id = await begun('bolt', ({ jobs }, n) => double.count('submit') > n && (jobs.at(-1)?.polls ?? 0) > 0);
  double.endsAfterPolls = 1;
  await walletHeld(async () => {
    await eventually(async () => {
      await bench.service.advance(1);
      return (await kept()).some((name) => name.includes(id) && name.endsWith('.mp4'));
    });
    await worker.end('SIGKILL');
  });
  worker = launch(place);
  await expectSold(id, before[0]);
  expect(double.assetCalls.length).toBe(before[1] + 1);
});

async function kept(): Promise<string[]> {
  return readdir(join(new URL(bench.env.ASSETS_URL ?? '').pathname, bench.account.accountId)).catch(() => []);
}

/** Meanwhile no job of the account can end. */
async function walletHeld(run: () => Promise<void>): Promise<void> {
  await withClient(bench.service.database.connection, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE', [bench.account.accountId]);
    await run();
    await client.query('ROLLBACK');
  });
}

test.runIf(isSoak)('when a cancelled job waits for its bill: it is charged once', async () => {
  const double = bench.double('corp');
  double.endsAfterPolls = null;
  const id = await begun('corp', ({ jobs }, n) => double.count('submit') > n && (jobs.at(-1)?.polls ?? 0) > 0);
  Object.assign(double.jobs.at(-1) ?? {}, { state: 'running', started: true });
  double.script('poll', 'silent', 'silent', 'silent');
  const polls = double.count('poll');
  await bench.ok('POST', `/v1/video/cancel/${id}`);
  await eventually(() => double.count('poll') > polls, 20_000);
  await dies();
  double.forget();
  const job = await bench.soon(id, ({ cost_usd }) => cost_usd !== null);
  expect(job.cost_usd).toBeCloseTo(2 * PER_SECOND * 1.05, 9);
  await expectClean();
});

test('two processes that die again and again: one submission an attempt, one capture a video, and the books add up', async () => {
  const [bolt, corp] = [bench.double('bolt'), bench.double('corp')];
  const before = { balance: (await bench.balance()).balance, bolt: bolt.jobs.length, corp: corp.jobs.length };
  const books = await bench.books();
  const billedBefore = corp.billedSeconds;
  Object.assign(bolt, { endsAfterPolls: 2 });
  Object.assign(corp, { endsAfterPolls: 3 });
  const second = await createPlace(place.env as Record<string, string>);
  let other = launch(second);
  const ids: string[] = [];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let n = 0; n < 2; n += 1) {
      const vendor = random(2) === 0 ? 'bolt' : 'corp';
      const wanted = { prompt: 'A boat.', model: 'auto', vendor, duration_seconds: 1 + random(3) };
      const reply = await bench.call('POST', '/v1/video/generate', wanted);
      // Ten may be under way.
      if (reply.status === 429) continue;
      expect(reply.status, reply.text).toBe(200);
      const { job_id: id } = reply.body.data;
      ids.push(id);
      if (random(4) === 0) await bench.call('POST', `/v1/video/cancel/${id}`);
    }
    await sleep(300 + random(1_500));
    await bench.service.advance(random(20));
    if (random(2) === 0) await dies();
    else {
      await other.end('SIGKILL');
      other = launch(second);
    }
  }
  const jobs = [];
  for (const id of ids) jobs.push(await bench.soon(id, ({ cost_usd }) => cost_usd !== null, 60_000));
  await other.end('SIGTERM');
  await second.remove();
  const paid = jobs.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  expect(before.balance - (await bench.balance()).balance).toBeCloseTo(paid, 9);
  await expectClean();
  // What the vendors have taken is at most one job for each of ours.
  expect(bolt.jobs.length - before.bolt + corp.jobs.length - before.corp).toBeLessThanOrEqual(ids.length);
  const sum = (rows: Awaited<ReturnType<typeof bench.books>>, what: 'captured' | 'billed', vendor = '') =>
    Object.entries(rows).reduce((total, [name, row]) => total + (name.startsWith(vendor) ? row[what] : 0), 0);
  expect(sum(await bench.books(), 'captured') - sum(books, 'captured')).toBeCloseTo(paid, 9);
  // Of the vendor that lists its jobs everything is known in the end: what it bills was sold, or is a loss.
  await eventually(async () => {
    await bench.service.advance(30);
    const known = sum(await bench.books(), 'billed', 'corp') - sum(books, 'billed', 'corp');
    return Math.abs(known - (corp.billedSeconds - billedBefore) * PER_SECOND) < 1e-9;
  });
});

test('twice while the sandbox makes it: it is given up, and not charged', async () => {
  const { job_id: id } = await bench.job({ model: 'sandbox/storyboard-1', duration_seconds: 30 });
  const claimed = {
    name: 'test_claimed',
    text: 'SELECT leased, deaths FROM video.job WHERE account_id = $1 AND job_id = $2',
  };
  const isClaimed = (deaths: number) =>
    eventually(async () => {
      const { rows } = await bench.service.core.db.query<{ leased: boolean; deaths: number }>(claimed, [
        bench.account.accountId,
        id,
      ]);
      return rows[0]?.leased === true && rows[0].deaths === deaths;
    });
  await isClaimed(0);
  await dies();
  await bench.service.advance(31);
  await isClaimed(1);
  await dies();
  await bench.service.advance(31);
  const message = 'The process died 2 times while this job ran. It is not tried again.';
  expect(await bench.soon(id)).toMatchObject({
    state: 'failed',
    cost_usd: 0,
    error: { code: 'INTERNAL_ERROR', message },
  });
  await expectClean();
});
