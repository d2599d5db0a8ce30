// Jobs from the call to the video: states, money, links, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, QUICK, VideoBench } from './harness.ts';
import { inspect } from './sample.ts';

let bench: VideoBench;
beforeAll(async () => {
  bench = await VideoBench.start();
});
afterAll(() => bench.service.stop());

describe('a job in the sandbox', () => {
  let own: VideoBench;
  let accepted: Data;
  let done: Data;
  beforeAll(async () => {
    own = await bench.withAccount(1);
    accepted = await own.generate({ prompt: 'A boat. 纸船。', duration_seconds: 2, seed: 3 });
    done = await own.ended(accepted.job_id);
  });

  test('is accepted at once, with its price held', () => {
    expect(accepted).toMatchObject({
      state: 'queued',
      model: 'sandbox/storyboard-1',
      vendor: 'sandbox',
      video_url: null,
    });
    expect(accepted).toMatchObject({ cost_usd: null, finished_at: null, error: null, operation: 'generate', seed: 3 });
    expect(accepted.metadata).toBeUndefined();
    expect(accepted.job_id).toMatch(/^vid_[A-Za-z0-9]{20,}$/);
  });

  test('ends with a video that can be fetched without a key', async () => {
    expect(done).toMatchObject({ state: 'succeeded', cost_usd: 0.002, width: 1_280, height: 720, retention_days: 0 });
    const reply = await fetch(done.video_url);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('video/mp4');
    const video = new Uint8Array(await reply.arrayBuffer());
    expect(video.length).toBe(done.size_bytes);
    expect(await inspect(video)).toMatchObject({ widthPx: 1_280, heightPx: 720, frames: 48, seconds: 2 });
    const thumbnail = await fetch(done.thumbnail_url);
    expect(thumbnail.headers.get('content-type')).toBe('image/jpeg');
  });

  test('costs what it was quoted, once, and leaves nothing held', async () => {
    expect(await own.balance()).toEqual({ balance: 0.998, held: 0 });
    expect(await own.findings()).toEqual([]);
  });

  test('says who did the work', () => {
    expect(done.metadata).toMatchObject({
      vendor: 'sandbox',
      vendor_region: 'western',
      markup_pct: 0,
      cost_usd: 0.002,
      cost_cny: 0.0144,
      edge_pop: 'local',
      worker_id: expect.stringMatching(`-${process.pid}$`),
    });
    expect(done.metadata.failover_info).toBeUndefined();
  });

  test('tells video.job.completed with links of a day', async () => {
    const { type, object } = (await own.events()).find((event) => event.type.startsWith('video.')) as Data;
    expect(type).toBe('video.job.completed');
    expect(object).toMatchObject({ job_id: done.job_id, state: 'succeeded', cost_usd: 0.002 });
    const ends = Number(new URL(object.video_url).searchParams.get('exp')) * 1_000;
    expect(ends - Date.parse(done.finished_at)).toBeGreaterThan(23 * 3_600_000);
  });

  test('is at 100 % once it has succeeded', async () => {
    const status = await own.ok('GET', `/v1/video/status/${done.job_id}`);
    expect(status).toEqual({
      job_id: done.job_id,
      state: 'succeeded',
      progress_pct: 100,
      eta_seconds: 0,
      current_step: null,
    });
  });
});

describe('cancel', () => {
  test('of a running job gives everything back, and ends the rendering', async () => {
    const own = await bench.withAccount(1);
    const { job_id: id } = await own.generate({ prompt: '[[hang]]', duration_seconds: 10 });
    await own.running(id);
    expect(await own.balance()).toEqual({ balance: 0.99, held: 0.01 });
    const cancelled = await own.ok('POST', `/v1/video/cancel/${id}`, { job_id: id });
    expect(cancelled).toMatchObject({ state: 'cancelled', end_reason: 'cancelled', cost_usd: 0, error: null });
    expect(cancelled.cancel).toEqual({ vendor_stopped: 'yes', may_be_charged: false });
    expect(await own.balance()).toEqual({ balance: 1, held: 0 });
    expect(await own.ok('POST', `/v1/video/cancel/${id}`, { id })).toMatchObject({ state: 'cancelled' });
    const types = (await own.events()).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('video.'))).toEqual(['video.job.failed']);
    expect(await own.findings()).toEqual([]);
  });

  test('of what has ended otherwise is refused; another id in the body too', async () => {
    const { job_id: id } = await bench.ended((await bench.generate()).job_id);
    expect(await bench.fails('POST', `/v1/video/cancel/${id}`)).toEqual([409, 'STATE_CONFLICT', 'job_id', 'succeeded']);
    expect(await bench.fails('POST', `/v1/video/cancel/${id}`, { job_id: 'vid_other' })).toEqual([
      400,
      'VALIDATION_FAILED',
      'job_id',
      'path_mismatch',
    ]);
  });
});

describe('what is refused', () => {
  test.each<[string, Record<string, unknown>, (string | number | undefined)[]]>([
    ['61 seconds', { duration_seconds: 61 }, [400, 'VALIDATION_FAILED', 'duration_seconds', 'maximum']],
    ['an unknown model', { model: 'sandbox/storybord-1' }, [404, 'MODEL_NOT_FOUND', 'model', undefined]],
    ['an unknown vendor', { model: null, vendor: 'acme' }, [400, 'VENDOR_NOT_AVAILABLE', 'vendor', undefined]],
    ['two vendors', { vendor: 'acme' }, [400, 'INVALID_REQUEST', 'vendor', undefined]],
    ['retention without store', { retention_days: 3 }, [400, 'VALIDATION_FAILED', 'retention_days', 'needs_store']],
    [
      'an image that is none',
      { reference_image: 'bm90IGFuIGltYWdl' },
      [400, 'VALIDATION_FAILED', 'reference_image', 'not_an_image'],
    ],
    [
      'an image at a private address',
      { reference_image: 'https://127.0.0.1/x.png' },
      [400, 'VALIDATION_FAILED', 'reference_image', 'url_refused'],
    ],
    [
      'a webhook at a private address',
      { webhook_url: 'https://10.0.0.1/' },
      [400, 'WEBHOOK_URL_REJECTED', 'webhook_url', 'address'],
    ],
    ['an unknown shape', { aspect_ratio: '2:1' }, [400, 'VALIDATION_FAILED', 'aspect_ratio', 'enum']],
    ['a prompt of 4,001 characters', { prompt: 'x'.repeat(4_001) }, [400, 'VALIDATION_FAILED', 'prompt', 'maxLength']],
  ])('%s', async (_, over, expected) => {
    const own = await bench.withAccount(1);
    expect(await own.fails('POST', '/v1/video/generate', { ...QUICK, ...over })).toEqual(expected);
    expect(await own.balance()).toEqual({ balance: 1, held: 0 });
  });

  test('a job that the wallet does not cover', async () => {
    const own = await bench.withAccount(0.001);
    expect((await own.fails('POST', '/v1/video/generate', { ...QUICK, duration_seconds: 2 }))[1]).toBe(
      'INSUFFICIENT_CREDIT',
    );
    expect((await own.ok('GET', '/v1/video/list')).items).toEqual([]);
  });

  test('the eleventh live job', async () => {
    const own = await bench.withAccount(1);
    const hanging = { prompt: '[[hang]]' };
    const jobs = await Promise.all(Array.from({ length: 10 }, () => own.generate(hanging)));
    expect(await own.fails('POST', '/v1/video/generate', { ...QUICK, ...hanging })).toEqual([
      429,
      'CONCURRENCY_LIMITED',
      undefined,
      'video_jobs',
    ]);
    for (const { job_id: id } of jobs) await own.ok('DELETE', `/v1/video/delete/${id}`);
    await own.generate();
    expect(await own.findings()).toEqual([]);
  });
});

describe('a failed job', () => {
  test('says why, and costs nothing', async () => {
    const own = await bench.withAccount(1);
    const job = await own.ended((await own.generate({ prompt: '[[fail:VENDOR_TIMEOUT]]' })).job_id);
    expect(job).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      video_url: null,
      error: { code: 'VENDOR_TIMEOUT', http_status: 504 },
    });
    expect(await own.balance()).toEqual({ balance: 1, held: 0 });
    expect(await own.fails('GET', `/v1/video/download_url/${job.job_id}`)).toEqual([
      409,
      'STATE_CONFLICT',
      undefined,
      'failed',
    ]);
    expect(await own.findings()).toEqual([]);
  });
});

describe('what is made of a video', () => {
  test('extend puts more behind it, and charges what is added', async () => {
    const own = await bench.withAccount(1);
    const { job_id: id } = await own.ended((await own.generate()).job_id);
    const longer = await own.ended(
      (await own.ok('POST', `/v1/video/extend/${id}`, { prompt: 'Rain.', duration_seconds: 2, model: QUICK.model }))
        .job_id,
    );
    expect(longer).toMatchObject({
      state: 'succeeded',
      parent_job_id: id,
      duration_seconds: 3,
      extend_mode: 'stitched',
      cost_usd: 0.002,
    });
    expect(await inspect(new Uint8Array(await (await fetch(longer.video_url)).arrayBuffer()))).toMatchObject({
      frames: 72,
    });
    const larger = await own.ended((await own.ok('POST', `/v1/video/upscale/${id}`, { resolution: '1080p' })).job_id);
    expect(larger).toMatchObject({ state: 'succeeded', width: 1_920, height: 1_080, cost_usd: 0.002 });
    expect(await own.fails('POST', `/v1/video/upscale/${id}`, { resolution: '720p' })).toEqual([
      400,
      'VALIDATION_FAILED',
      'resolution',
      'resolution_not_higher',
    ]);
    expect((await own.ok('GET', `/v1/video/list?parent_job_id=${id}`)).items.map((job: Data) => job.job_id)).toEqual([
      larger.job_id,
      longer.job_id,
    ]);
    expect(await own.findings()).toEqual([]);
  });

  test('nothing is made of a job without a video', async () => {
    const { job_id: id } = await bench.generate({ prompt: '[[fail:VENDOR_ERROR]]' });
    await bench.ended(id);
    expect(await bench.fails('POST', `/v1/video/extend/${id}`, {})).toEqual([
      409,
      'STATE_CONFLICT',
      'job_id',
      'failed',
    ]);
  });
});

test('a video that is stored costs its storage in advance, by the bytes that its record shows', async () => {
  const own = await bench.withAccount(1);
  const job = await own.ended((await own.generate({ store: true, retention_days: 365 })).job_id);
  const storage = Math.ceil((job.size_bytes * 365 * 1_000_000) / 2 ** 30) / 1e9;
  expect(job.cost_usd).toBeCloseTo(0.001 + storage, 9);
  const { items } = await own.ok('GET', '/v1/account/ledger/list');
  expect(
    items
      .filter((entry: Data) => entry.kind === 'capture')
      .map((entry: Data) => entry.capability)
      .sort(),
  ).toEqual(['video.generate', 'video.storage']);
  expect(await own.findings()).toEqual([]);
});

test('an idempotency key makes one job, whatever becomes of it', async () => {
  const own = await bench.withAccount(1);
  const keyed = { ...QUICK, idempotency_key: 'one' };
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => own.ok('POST', '/v1/video/generate', keyed)));
  expect(new Set(others.map((job: Data) => job.job_id))).toEqual(new Set([first.job_id]));
  await own.ended(first.job_id);
  expect((await own.ok('POST', '/v1/video/generate', keyed)).job_id).toBe(first.job_id);
  expect((await own.ok('GET', '/v1/video/list')).items).toHaveLength(1);
});

test('quote says what generate would hold, and makes nothing', async () => {
  const own = await bench.withAccount(1);
  const quote = await own.ok('POST', '/v1/video/quote', {
    ...QUICK,
    duration_seconds: 10,
    resolution: '4k',
    store: true,
  });
  expect(quote.chain).toEqual([{ vendor: 'sandbox', model: 'storyboard-1', up: true, price_usd: 0.04 }]);
  expect(quote.max_cost_usd).toBeGreaterThan(0.04);
  expect((await own.ok('GET', '/v1/video/list')).items).toEqual([]);
});
