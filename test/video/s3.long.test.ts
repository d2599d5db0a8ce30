// A service that keeps its videos in a bucket of S3.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeJobOrphans } from '../../src/jobs/sweeps.ts';
import { videoKind } from '../../src/modules/video/jobs/kind.ts';
import { eventually } from '../cron/harness.ts';
import { createPlace, startProcess } from '../support/process.ts';
import { S3Double } from '../support/s3.ts';
import { SECRETS_KEY, startTestService } from '../support/service.ts';
import { type Data, QUICK, VideoBench } from './harness.ts';
import { inspect } from './sample.ts';

let s3: S3Double;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  s3 = await S3Double.start();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await s3.stop();
});

const videos = () => [...s3.objects.keys()].filter((key) => key !== 'made/quartermaster-assets');
test('videos go from the call to the download, and away again', async () => {
  const bench = await VideoBench.start(s3.env());
  ends.push(() => bench.service.stop());
  expect(s3.objects.size).toBe(0);
  const job = await bench.ended((await bench.generate({ reference_image: await image() })).job_id);
  expect(job.state).toBe('succeeded');
  expect(
    videos()
      .map((key) => key.replace(/.*\./, ''))
      .sort(),
  ).toEqual(['jpg', 'mp4', 'reference']);
  const whole = new Uint8Array(await (await fetch(job.video_url)).arrayBuffer());
  expect(whole.length).toBe(job.size_bytes);
  expect(await inspect(whole)).toMatchObject({ frames: 24 });
  const part = await fetch(job.video_url, { headers: { range: 'bytes=10-19' } });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${job.size_bytes}`]);
  expect(new Uint8Array(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
  expect((await fetch(job.video_url, { headers: { range: `bytes=${job.size_bytes}-` } })).status).toBe(416);
  expect((await fetch(job.thumbnail_url)).headers.get('content-type')).toBe('image/jpeg');
  await bench.ok('DELETE', `/v1/video/delete/${job.job_id}`);
  expect(videos()).toEqual([]);
});

test('two processes share it: one takes the call, the other makes the video', async () => {
  const front = await VideoBench.start({ ...s3.env(), ROLES: 'web,render' });
  ends.push(() => front.service.stop());
  const { job_id: id } = await front.generate();
  const worker = await startTestService({
    database: front.service.database,
    env: { ...s3.env(), ROLES: 'work,render' },
  });
  ends.push(() => worker.stop());
  const job = await front.ended(id);
  expect((await (await fetch(job.video_url)).arrayBuffer()).byteLength).toBe(job.size_bytes);
  await expect(startTestService({ database: front.service.database, env: s3.env('elsewhere') })).rejects.toThrow(
    /ASSETS_URL: what this database keeps is in another place/,
  );
});

test('a bucket that has the videos of another database is refused, and nothing in it is touched', async () => {
  const first = await VideoBench.start(s3.env());
  ends.push(() => first.service.stop());
  await first.ended((await first.generate()).job_id);
  const env = { ...s3.env(), SECRETS_KEY: 'the secret of another deployment, as long' };
  await expect(startTestService({ env })).rejects.toThrow(/ASSETS_URL: another database keeps its files in that place/);
});

test('what no job names is removed after a day; in a place that the database does not know, nothing is', async () => {
  const orphan = 'made/acct_1/vid_0vTq3mXkfR7bYc1LpZs8Ne.1.mp4';
  const others = ['made/notes.txt', 'elsewhere'];
  for (const key of [orphan, ...others]) s3.objects.set(key, { bytes: Buffer.from('x'), changedMs: 0 });
  s3.nowMs = () => 0;
  const bench = await VideoBench.start(s3.env());
  ends.push(() => bench.service.stop());
  const { signal } = new AbortController();
  const sweep = async () => {
    const from = { after: '' };
    while (await removeJobOrphans(bench.service.core, videoKind, from, signal));
  };
  await sweep();
  expect(s3.objects.has(orphan)).toBe(true);
  const job = await bench.ended((await bench.generate()).job_id);
  await sweep();
  expect(s3.objects.has(orphan)).toBe(false);
  expect(others.every((key) => s3.objects.has(key))).toBe(true);
  expect((await fetch(job.video_url, { method: 'HEAD' })).status).toBe(200);
  expect((await (await fetch(job.video_url)).arrayBuffer()).byteLength).toBe(job.size_bytes);
});

test('a wrong secret is told at the start, without repeating it', async () => {
  const env = { ...s3.env(), ASSETS_SECRET_ACCESS_KEY: 'not-the-secret' };
  const failure = await startTestService({ env }).catch((error: Error) => error.message);
  expect(failure).toMatch(/^ASSETS_URL: .*ASSETS_SECRET_ACCESS_KEY is not the secret of ASSETS_ACCESS_KEY_ID/);
  expect(failure).not.toContain('not-the-secret');
});

test('one that does not answer keeps nobody from starting: only videos wait for it', async () => {
  s3.fault = () => ({ status: 503, code: 'ServiceUnavailable' });
  const bench = await VideoBench.start(s3.env());
  ends.push(() => bench.service.stop());
  expect(await bench.fails('POST', '/v1/video/generate', QUICK)).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    undefined,
    undefined,
  ]);
  expect((await bench.balance()).held).toBe(0);
  s3.fault = () => null;
  const job = await bench.ended((await bench.generate()).job_id);
  s3.fault = () => ({ status: 503, code: 'ServiceUnavailable' });
  const away = await fetch(job.video_url);
  expect([away.status, (await away.json()).error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  s3.fault = () => null;
  for (const key of videos()) s3.objects.delete(key);
  expect((await fetch(job.video_url)).status).toBe(404);
});

test('a process that is killed while it stores a video leaves nothing to be seen; another makes the video', async () => {
  const front = await VideoBench.start({ ...s3.env(), ROLES: 'web,render' });
  ends.push(() => front.service.stop());
  s3.fault = ({ method, key }) => (method === 'PUT' && key.endsWith('.mp4') ? 'silent' : null);
  const env = {
    ...s3.env(),
    DATABASE_URL: front.service.database.url,
    SECRETS_KEY,
    TEST_CLOCK: 'on',
    ROLES: 'work,render',
  };
  const place = await createPlace(env);
  ends.push(() => place.remove());
  const worker = await startProcess(place);
  const { job_id: id } = await front.generate();
  await eventually(async () => s3.requests.some(({ method, key }) => method === 'PUT' && key.endsWith('.mp4')), 30_000);
  await worker.end('SIGKILL');
  expect(videos()).toEqual([]);
  expect((await front.get(id)).state).toBe('running');
  s3.fault = () => null;
  const next = await startTestService({ database: front.service.database, env: { ...s3.env(), ROLES: 'work,render' } });
  ends.push(() => next.stop());
  await next.advance(31);
  const job: Data = await front.ended(id);
  expect(job).toMatchObject({ state: 'succeeded', cost_usd: 0.001 });
  expect(videos()).toHaveLength(2);
  expect(await front.findings()).toEqual([]);
});

/** An image of one colour. */
async function image(): Promise<string> {
  const { default: sharp } = await import('sharp');
  const made = sharp({ create: { width: 64, height: 64, channels: 3, background: '#2266aa' } });
  return (await made.png().toBuffer()).toString('base64');
}
