// The wire of OpenAI's videos: their official client, unchanged, on jobs of the sandbox; and what strangers may send.
import OpenAI, { APIError, toFile } from 'openai';
import type { Video } from 'openai/resources/videos';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { once } from '../../src/lib/once.ts';
import { eventually } from '../cron/harness.ts';
import { createTestAccount } from '../support/service.ts';
import { type Data, VideoBench } from './harness.ts';
import { inspect } from './sample.ts';

const MODEL = 'sandbox/storyboard-1';
/** The smallest film that there is; the client's types know fewer sizes than the service. */
const SHORT = { model: MODEL, prompt: 'A paper boat.', seconds: '1' as '4', size: '720x720' as '1280x720' };

let bench: VideoBench;
let openai: OpenAI;
beforeAll(async () => {
  bench = await VideoBench.start();
  openai = clientOf(bench.account.secret);
});
afterAll(() => bench.service.stop());

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${bench.service.url}/v1` });
}

function ended(id: string, by = openai): Promise<Video> {
  return eventually(async () => {
    const video = await by.videos.retrieve(id);
    return video.status === 'completed' || video.status === 'failed' ? video : null;
  });
}

/** A film that is done, for all tests that only need one. */
const film = once(async () => ended((await openai.videos.create(SHORT)).id));

/** How the client sees a refusal. */
async function refusal(act: () => PromiseLike<unknown>): Promise<unknown[]> {
  const error = await Promise.resolve(act()).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(APIError);
  const { status, type, code, param } = error as APIError;
  return [status, type, code, param];
}

describe('the official client', () => {
  test('makes a video, watches it, downloads it and deletes it', async () => {
    const own = await bench.withAccount(1);
    const by = clientOf(own.account.secret);
    const beforeSeconds = Date.now() / 1_000;
    const accepted = await by.videos.create({ ...SHORT, size: '1280x720' });
    expect(accepted).toEqual({
      id: expect.stringMatching(/^vid_/),
      object: 'video',
      created_at: expect.any(Number),
      completed_at: null,
      expires_at: null,
      status: 'queued',
      progress: 0,
      model: MODEL,
      prompt: 'A paper boat.',
      seconds: '1',
      size: '1280x720',
      remixed_from_video_id: null,
      error: null,
    });
    expect(accepted.created_at).toBeGreaterThan(beforeSeconds - 60);
    expect(accepted.created_at).toBeLessThan(Date.now() / 1_000 + 60);
    const video = await ended(accepted.id, by);
    expect(video).toMatchObject({ status: 'completed', progress: 100, error: null });
    expect(video.expires_at).toBe((video.completed_at as number) + 86_400);
    const bytes = new Uint8Array(await (await by.videos.downloadContent(video.id)).arrayBuffer());
    expect(await inspect(bytes)).toMatchObject({ widthPx: 1_280, heightPx: 720, frames: 24 });
    const picture = await by.videos.downloadContent(video.id, { variant: 'thumbnail' });
    expect(picture.headers.get('content-type')).toBe('image/jpeg');
    expect((await sharp(await picture.arrayBuffer()).metadata()).format).toBe('jpeg');
    expect(await by.videos.delete(video.id)).toEqual({ id: video.id, object: 'video.deleted', deleted: true });
    expect(await refusal(() => by.videos.retrieve(video.id))).toEqual([
      404,
      'invalid_request_error',
      'JOB_NOT_FOUND',
      'video_id',
    ]);
    expect(await own.balance()).toEqual({ balance: 0.999, held: 0 });
    expect(await own.findings()).toEqual([]);
  });

  test('gets what it means without saying: four seconds, upright', async () => {
    const accepted = await openai.videos.create({ model: MODEL, prompt: 'A leaf. [[hang]]' });
    expect(accepted).toMatchObject({ seconds: '4', size: '720x1280' });
    const job = await bench.get(accepted.id);
    expect(job).toMatchObject({ resolution: '720p', aspect_ratio: '9:16', duration_seconds: 4 });
    await openai.videos.delete(accepted.id);
  });

  test('sends an image as a file or as a data URL', async () => {
    const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#2266aa' } })
      .png()
      .toBuffer();
    const sent = [
      await toFile(picture, 'boat.png', { type: 'image/png' }),
      { image_url: `data:image/png;base64,${picture.toString('base64')}` },
    ];
    for (const input_reference of sent) {
      const { id } = await openai.videos.create({ ...SHORT, input_reference });
      expect((await ended(id)).status).toBe('completed');
    }
    // Long ones are read in a thread.
    const noise = await sharp(Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))), {
      raw: { width: 200, height: 100, channels: 3 },
    })
      .resize(800, 400)
      .png()
      .toBuffer();
    expect(noise.length).toBeGreaterThan(128 * 1_024);
    const { id } = await openai.videos.create({ ...SHORT, input_reference: await toFile(noise, 'noise.png') });
    expect((await ended(id)).status).toBe('completed');
  });

  test('pages through its videos, both ways', async () => {
    const own = await bench.withAccount(1);
    const by = clientOf(own.account.secret);
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push((await by.videos.create({ ...SHORT, prompt: '[[hang]]' })).id);
    const page = await by.videos.list({ limit: 2 });
    expect([page.has_more, page.last_id]).toEqual([true, ids[3]]);
    const bare = await (await by.videos.list({ limit: 2 }).asResponse()).json();
    expect(bare).toMatchObject({ object: 'list', first_id: ids[4], last_id: ids[3], has_more: true });
    const all = async (order: 'asc' | 'desc') => {
      const found: string[] = [];
      for await (const { id } of by.videos.list({ limit: 2, order })) found.push(id);
      return found;
    };
    expect(await all('asc')).toEqual(ids);
    expect(await all('desc')).toEqual([...ids].reverse());
    expect((await by.videos.list({ after: ids[4] as string, order: 'asc' })).data).toEqual([]);
    for (const id of ids) await by.videos.delete(id);
    expect(await (await by.videos.list()).data).toEqual([]);
  });

  test('is told what went wrong with a job, and that a video is not there yet', async () => {
    const { id } = await openai.videos.create({ ...SHORT, prompt: '[[fail:CONTENT_REFUSED]]' });
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'CONTENT_REFUSED', message: expect.any(String) },
    });
    const { id: hanging } = await openai.videos.create({ ...SHORT, prompt: '[[hang]]' });
    expect(await refusal(() => openai.videos.downloadContent(hanging))).toEqual([
      409,
      'invalid_request_error',
      'STATE_CONFLICT',
      'video_id',
    ]);
    await bench.running(hanging);
    expect(await openai.videos.retrieve(hanging)).toMatchObject({ status: 'in_progress' });
    await bench.ok('POST', `/v1/video/cancel/${hanging}`);
    expect(await openai.videos.retrieve(hanging)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  test('is refused in its own words', async () => {
    const invalid = [400, 'invalid_request_error', 'VALIDATION_FAILED'];
    const create = (over: object) => refusal(() => openai.videos.create({ ...SHORT, ...over }));
    expect(await create({ seconds: '61' })).toEqual([...invalid, 'seconds']);
    expect(await create({ seconds: '4.5' })).toEqual([...invalid, 'seconds']);
    expect(await create({ size: '1792x1024' })).toEqual([...invalid, 'size']);
    expect(await create({ prompt: '' })).toEqual([...invalid, 'prompt']);
    expect(await create({ prompt: 'x'.repeat(4_001) })).toEqual([...invalid, 'prompt']);
    expect(await create({ colour: 'red' })).toEqual([...invalid, 'colour']);
    expect(await create({ input_reference: await toFile(Buffer.from('no image'), 'x.png') })).toEqual([
      ...invalid,
      'input_reference',
    ]);
    expect(await create({ input_reference: { file_id: 'file_1' } })).toEqual([...invalid, 'input_reference']);
    expect(await create({ input_reference: { image_url: 'https://127.0.0.1/x.png' } })).toEqual([
      ...invalid,
      'input_reference',
    ]);
    expect(await create({ model: 'sora-2' })).toEqual([404, 'invalid_request_error', 'MODEL_NOT_FOUND', 'model']);
    expect(await refusal(() => openai.videos.list({ limit: 101 }))).toEqual([...invalid, 'limit']);
    expect(await refusal(() => openai.videos.list({ after: 'video_123' }))).toEqual([...invalid, 'after']);
    expect(await refusal(() => openai.videos.list({ order: 'up' as 'asc' }))).toEqual([...invalid, 'order']);
    const { id } = await film();
    expect(await refusal(() => openai.videos.downloadContent(id, { variant: 'spritesheet' }))).toEqual([
      ...invalid,
      'variant',
    ]);
  });

  test('does not find what this service has not', async () => {
    const missing = [404, 'invalid_request_error', 'CAPABILITY_NOT_FOUND', null];
    expect(await refusal(() => openai.videos.remix('vid_1', { prompt: 'Rain.' }))).toEqual(missing);
    expect(await refusal(() => openai.videos.edit({ prompt: 'Rain.', video: { id: 'vid_1' } }))).toEqual(missing);
    expect(await refusal(() => openai.videos.getCharacter('char_1'))).toEqual(missing);
  });
});

describe('who may', () => {
  test('an unknown key, a missing one and one without the scope are refused before anything is made', async () => {
    const authentication = [401, 'authentication_error'];
    expect((await refusal(() => clientOf('no-key').videos.create(SHORT))).slice(0, 2)).toEqual(authentication);
    expect((await refusal(() => clientOf('no-key').videos.list())).slice(0, 2)).toEqual(authentication);
    const bare = await fetch(`${bench.service.url}/v1/videos`);
    expect([bare.status, (await bare.json()).error.type]).toEqual(authentication);
    const anonymous = await fetch(`${bench.service.url}/v1/videos`, { method: 'POST', body: '{}' });
    expect([anonymous.status, (await anonymous.json()).error.type]).toEqual(authentication);
    const { secret } = await createTestAccount(bench.service.core, 1, ['video:read']);
    const reader = clientOf(secret);
    const denied = [403, 'permission_error', 'INSUFFICIENT_SCOPE', null];
    expect(await refusal(() => reader.videos.create(SHORT))).toEqual(denied);
    expect(await refusal(() => reader.videos.delete('vid_1'))).toEqual(denied);
    expect((await reader.videos.list()).data).toEqual([]);
    const { secret: other } = await createTestAccount(bench.service.core, 1, ['queue:read', 'queue:write']);
    expect(await refusal(() => clientOf(other).videos.list())).toEqual(denied);
    expect(await refusal(() => clientOf(other).videos.retrieve('vid_1'))).toEqual(denied);
    expect(await refusal(() => clientOf(other).videos.downloadContent('vid_1'))).toEqual(denied);
  });

  test("another account's video is not there, and is not deleted", async () => {
    const { id } = await film();
    const stranger = clientOf((await createTestAccount(bench.service.core, 1)).secret);
    const missing = [404, 'invalid_request_error', 'JOB_NOT_FOUND', 'video_id'];
    expect(await refusal(() => stranger.videos.retrieve(id))).toEqual(missing);
    expect(await refusal(() => stranger.videos.downloadContent(id))).toEqual(missing);
    expect((await stranger.videos.list({ after: id, order: 'asc' })).data).toEqual([]);
    await stranger.videos.delete(id);
    expect((await openai.videos.retrieve(id)).status).toBe('completed');
  });

  test('an empty wallet is told as one, and the client does not try again', async () => {
    const poor = clientOf((await createTestAccount(bench.service.core, 0)).secret);
    let calls = 0;
    const counting = poor.withOptions({
      fetch: (...args) => {
        if (String(args[0]).startsWith('http')) calls += 1;
        return fetch(...args);
      },
    });
    expect(await refusal(() => counting.videos.create(SHORT))).toEqual([
      402,
      'insufficient_quota',
      'INSUFFICIENT_CREDIT',
      null,
    ]);
    expect(calls).toBe(1);
  });
});

describe('calls', () => {
  test('with one idempotency key make one job', async () => {
    const headers = { 'Idempotency-Key': 'one' };
    const undrawn = { ...SHORT, prompt: '[[fail:VENDOR_ERROR]]' };
    const videos = await Promise.all([1, 2, 3].map(() => openai.videos.create(undrawn, { headers })));
    expect(new Set(videos.map(({ id }) => id)).size).toBe(1);
    expect(await refusal(() => openai.videos.create({ ...SHORT, prompt: 'Another.' }, { headers }))).toEqual([
      409,
      'invalid_request_error',
      'IDEMPOTENCY_KEY_REUSED',
      'idempotency_key',
    ]);
  });

  test('are those of the capabilities, and say how they came', async () => {
    const own = await bench.withAccount(1);
    const by = clientOf(own.account.secret);
    const { id } = await ended((await by.videos.create(SHORT)).id, by);
    const job: Data = await own.get(id);
    expect(job.metadata).toMatchObject({ entry_form: 'openai_compat', cost_usd: 0.001 });
    expect((await own.events()).map(({ type }) => type)).toContain('video.job.completed');
  });

  test('of JSON are taken as forms are', async () => {
    const video = await openai.post<Video>('/videos', { body: { ...SHORT, seconds: 2, prompt: '[[hang]]' } });
    expect(video.seconds).toBe('2');
    await openai.videos.delete(video.id);
  });
});
