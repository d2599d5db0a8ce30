// How long a video is there: its pickup time, or the days that were paid for; then bytes, links and words are gone, and the record stays.
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { videoSweeps } from '../../src/modules/video/jobs/kind.ts';
import { startVideo } from '../../src/modules/video/start.ts';
import { QUICK, VideoBench } from './harness.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const GIB = 2 ** 30;
/** Half of what QUICK draws. */
const SMALL = { aspect_ratio: '1:1' };
const UNDRAWN = { ...QUICK, prompt: '[[fail:VENDOR_ERROR]]' };

let folder: string;
let bench: VideoBench;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-kept-'));
  bench = await VideoBench.start({ ASSETS_URL: `file:${folder}` });
});
afterAll(async () => {
  await bench.service.stop();
  await rm(folder, { recursive: true });
});

/** Runs the background work of the module until there is nothing left to do. */
async function sweep(): Promise<void> {
  const { signal } = new AbortController();
  const state = await startVideo(bench.service.core, { pickupHours: 24, ffmpegPath: null, sandboxThreads: 1 });
  for (const { run } of videoSweeps(state)) while (await run(signal));
}

const kept = (own: VideoBench) => readdir(join(folder, own.account.accountId)).catch(() => [] as string[]);
const linkOf = (url: string) => fetch(url).then(({ status }) => status);

test('a video that is not stored is there for its pickup time, for nothing; its record stays for 90 days', async () => {
  const own = await bench.withAccount();
  const job = await own.ended((await own.generate({ ...SMALL, store: false })).job_id);
  expect([job.retention_days, job.cost_usd]).toEqual([0, 0.001]);
  expect(Date.parse(job.expires_at) - Date.parse(job.finished_at)).toBe(DAY * 1_000);
  await own.service.advance(DAY - 60);
  await sweep();
  expect([(await kept(own)).length, (await own.get(job.job_id)).prompt]).toEqual([2, QUICK.prompt]);
  const last = (await own.ok('GET', `/v1/video/download_url/${job.job_id}?expires_seconds=86400`)).url;
  await own.service.advance(61);
  // Over by the clock, before any background work.
  expect(await linkOf(last)).toBe(403);
  expect(await own.fails('GET', `/v1/video/download_url/${job.job_id}`)).toEqual([
    ...[409, 'STATE_CONFLICT', undefined, 'output_expired'],
  ]);
  expect((await own.fails('POST', `/v1/video/extend/${job.job_id}`, {})).slice(0, 2)).toEqual([409, 'STATE_CONFLICT']);
  await sweep();
  expect(await kept(own)).toEqual([]);
  expect(await own.get(job.job_id)).toMatchObject({
    state: 'succeeded',
    prompt: '',
    video_url: null,
    thumbnail_url: null,
    expires_at: null,
  });
  expect((await own.fails('GET', `/v1/video/download_url/${job.job_id}`)).slice(0, 2)).toEqual([409, 'STATE_CONFLICT']);
  await own.service.advance(88 * DAY);
  await sweep();
  expect((await own.get(job.job_id)).state).toBe('succeeded');
  await own.service.advance(2 * DAY);
  await sweep();
  expect((await own.fails('GET', `/v1/video/get/${job.job_id}`)).slice(0, 2)).toEqual([404, 'JOB_NOT_FOUND']);
});

test('a stored video is paid for in advance by its real size, and is there for its days', async () => {
  const own = await bench.withAccount();
  const job = await own.ended((await own.generate({ ...SMALL, store: true, retention_days: 3 })).job_id);
  const storage = Math.ceil((job.size_bytes * 3 * 1e6) / GIB) / 1e9;
  expect(job.cost_usd).toBeCloseTo(0.001 + storage, 9);
  expect(await own.balance()).toEqual({ balance: expect.closeTo(100 - job.cost_usd, 9), held: 0 });
  await own.service.advance(3 * DAY - 60);
  await sweep();
  expect(await linkOf((await own.get(job.job_id)).video_url)).toBe(200);
  await own.service.advance(61);
  await sweep();
  expect([await kept(own), (await own.get(job.job_id)).video_url]).toEqual([[], null]);
  // Paid once.
  expect((await own.balance()).balance).toBeCloseTo(100 - job.cost_usd, 9);
  expect(await own.findings()).toEqual([]);
});

test('an idempotency key makes one job for thirty days', async () => {
  const own = await bench.withAccount();
  const make = async () => {
    const headers = {
      'idempotency-key': 'one-video',
      authorization: `Bearer ${own.account.secret}`,
      'content-type': 'application/json',
    };
    const reply = await fetch(`${own.service.url}/v1/video/generate`, {
      method: 'POST',
      headers,
      body: JSON.stringify(UNDRAWN),
    });
    const body = (await reply.json()) as { data: { job_id: string }; metadata: { idempotent_replay: boolean } };
    return [body.data.job_id, body.metadata.idempotent_replay] as const;
  };
  const [id] = await make();
  await own.ended(id);
  await own.service.advance(29 * DAY);
  expect(await make()).toEqual([id, true]);
  await own.service.advance(2 * DAY);
  const [another, isReplay] = await make();
  expect([another === id, isReplay]).toEqual([false, false]);
  await own.ended(another);
});

test('what no job names is removed a day after it was put, and nothing else', async () => {
  const own = await bench.withAccount();
  const { job_id: id } = await own.ended((await own.generate(SMALL)).job_id);
  const mine = join(folder, own.account.accountId);
  const [old, young, foreign] = [`${id}.99.mp4`, `${id}.98.mp4`, 'notes.txt'];
  await mkdir(mine, { recursive: true });
  for (const name of [old, young, foreign]) await writeFile(join(mine, name), 'bytes');
  const yesterday = new Date(Date.now() - 25 * HOUR * 1_000);
  for (const name of [...(await readdir(mine))].filter((each) => each !== young))
    await utimes(join(mine, name), yesterday, yesterday);
  await sweep();
  const left = await readdir(mine);
  expect([left.includes(old), left.includes(young), left.includes(foreign), left.length]).toEqual([
    false,
    true,
    true,
    4,
  ]);
  expect(await linkOf((await own.get(id)).video_url)).toBe(200);
});
