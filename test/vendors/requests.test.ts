// What each adapter says to its vendor, field by field, and which rows of the configuration it cannot serve.

import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { videoAdapters } from '../../src/modules/video/vendors/index.ts';
import type { VideoAdapter, VideoModelRow, VideoWork } from '../../src/modules/video/vendors/port.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { startVendor, type VendorDouble } from '../support/vendors/double.ts';
import { callOf, guardedClient, workFor } from '../support/vendors/index.ts';
import type { VendorCallSeen, Wire } from '../support/vendors/wire.ts';
import { falWire, openaiWire, replicateWire } from '../support/vendors/wires.ts';
import { arkWire, dashscopeWire } from '../support/vendors/wires-china.ts';

let outbound: OutboundClient;
const open: VendorDouble[] = [];
beforeAll(() => {
  outbound = guardedClient();
});
afterAll(() => outbound.close());
afterEach(async () => {
  for (const double of open.splice(0)) await double.close();
});

const adapterOf = (name: string) => videoAdapters().find((each) => each.name === name) as VideoAdapter;
const bytes = Buffer.from('not really a png');
const image = { bytes, contentType: 'image/png', url: null } as const;
const IMAGE_URL = `data:image/png;base64,${bytes.toString('base64')}`;
const full = { negativePrompt: 'blur', seed: 4_294_967_295, image, seconds: 10, resolution: '1080p' } as const;
const shape = { width: 1920, height: 1080 };

async function said(wire: Wire, work: Partial<VideoWork>): Promise<VendorCallSeen> {
  const double = await startVendor(wire);
  open.push(double);
  const submission = await adapterOf(wire.name).submit(callOf(double, outbound), workFor(double, work));
  expect(submission).toMatchObject({ kind: 'accepted' });
  return double.calls[0] as VendorCallSeen;
}

describe('openai-videos', () => {
  test('a form, with the image as a file', async () => {
    const { path, headers, body } = await said(openaiWire, { ...full, ...shape });
    const { input_reference: file, ...fields } = body as Record<string, unknown>;
    expect([path, headers['idempotency-key']]).toEqual(['/v1/videos', 'tok_0123456789abcdef']);
    expect(fields).toEqual({
      model: 'sora-2',
      prompt: 'A calico cat plays a piano.',
      seconds: '10',
      size: '1920x1080',
      seed: '4294967295',
      negative_prompt: 'blur',
    });
    expect([(file as File).name, (file as File).type, Buffer.from(await (file as File).bytes())]).toEqual([
      'reference.png',
      'image/png',
      bytes,
    ]);
  });

  test('JSON, with width and height and fields of the row, for servers of one’s own', async () => {
    const options = { body: 'json', dimensions: 'width_height', extra: { fps: 16, num_inference_steps: 40 } };
    const { body } = await said(openaiWire, { options, image });
    expect(body).toEqual({
      fps: 16,
      num_inference_steps: 40,
      model: 'sora-2',
      prompt: 'A calico cat plays a piano.',
      seconds: '5',
      width: 1280,
      height: 720,
      input_reference: { image_url: IMAGE_URL },
    });
  });

  test("OpenRouter's dialect", async () => {
    const { body } = await said(openaiWire, { options: { dialect: 'openrouter' }, seed: 7, image, resolution: '4k' });
    expect(body).toEqual({
      model: 'sora-2',
      prompt: 'A calico cat plays a piano.',
      duration: 5,
      resolution: '4K',
      aspect_ratio: '16:9',
      seed: 7,
      frame_images: [{ type: 'image_url', image_url: { url: IMAGE_URL }, frame_type: 'first_frame' }],
    });
  });

  test('an extension of a video of its own', async () => {
    const parent = { job: { reference: 'video_1', details: {} }, url: null, seconds: 8 };
    const { path, body } = await said(openaiWire, { operation: 'extend', parent, seconds: 4 });
    expect([path, body]).toEqual([
      '/v1/videos/extensions',
      { video: { id: 'video_1' }, prompt: 'A calico cat plays a piano.', seconds: '4' },
    ]);
  });
});

test('fal: the fields of the map, words for numbers, dots for nesting, and how long it may wait', async () => {
  const callbackUrl = 'https://qm.example.com/v1/vendors/callback/a?b=c&d';
  const { path, headers, body } = await said(falWire, { ...full, callbackUrl });
  expect(path).toBe(`/fal-ai/wan/text-to-video?fal_webhook=${encodeURIComponent(callbackUrl)}`);
  expect(headers).toMatchObject({ 'x-fal-request-timeout': '3600', authorization: 'Key vendor-key-0123456789' });
  expect(body).toEqual({
    enable_safety_checker: true,
    prompt: 'A calico cat plays a piano.',
    duration: '10s',
    settings: { resolution: '1080p', aspect_ratio: '16:9' },
    seed: 4_294_967_295,
    negative_prompt: 'blur',
    image_url: IMAGE_URL,
  });
});

describe('replicate', () => {
  test('one of its own models, with the time after which it gives up', async () => {
    const callbackUrl = 'https://qm.example.com/v1/vendors/callback/a';
    const { path, headers, body } = await said(replicateWire, { seed: 7, callbackUrl });
    expect([path, headers['cancel-after']]).toEqual(['/v1/models/wan-video/wan-2.2-t2v-fast/predictions', '60m']);
    expect(body).toEqual({
      input: {
        prompt: 'A calico cat plays a piano.',
        duration: 5,
        settings: { resolution: '720p', aspect_ratio: '16:9' },
        seed: 7,
      },
      webhook: callbackUrl,
      webhook_events_filter: ['completed'],
    });
  });

  test.each(['someone/video:5c7d5dc6', '5c7d5dc6'])('a version: %s', async (model) => {
    const { path, body } = await said(replicateWire, { model });
    expect([path, (body as { version: string }).version]).toEqual(['/v1/predictions', '5c7d5dc6']);
  });

  test('an image that is too long for its input goes by address', async () => {
    const url = 'https://qm.example.com/v1/video/inputs/1.png';
    const long = { bytes: Buffer.alloc(300 * 1024), contentType: 'image/png', url } as const;
    const { body } = await said(replicateWire, { image: long });
    expect((body as { input: Record<string, unknown> }).input.image).toBe(url);
  });
});

describe('dashscope', () => {
  const options = { dialect: 'wan2.7', extra: { watermark: false } };
  test('earlier models: a size from text, a resolution from an image', async () => {
    const { headers, body } = await said(dashscopeWire, { negativePrompt: 'blur', seed: 7 });
    expect(headers['x-dashscope-async']).toBe('enable');
    expect(body).toEqual({
      model: 'wan2.6-t2v',
      input: { prompt: 'A calico cat plays a piano.', negative_prompt: 'blur' },
      parameters: { prompt_extend: false, size: '1280*720', duration: 5, seed: 7 },
    });
    const { body: framed } = await said(dashscopeWire, { image });
    expect(framed).toMatchObject({ input: { img_url: IMAGE_URL }, parameters: { resolution: '720P', duration: 5 } });
    expect((framed as { parameters: object }).parameters).not.toHaveProperty('size');
  });

  test('later models: resolution and ratio, and a list of media', async () => {
    const { body } = await said(dashscopeWire, { model: 'wan2.7-i2v', options, image });
    expect(body).toEqual({
      model: 'wan2.7-i2v',
      input: { prompt: 'A calico cat plays a piano.', media: [{ type: 'first_frame', url: IMAGE_URL }] },
      parameters: { watermark: false, resolution: '720P', ratio: '16:9', duration: 5 },
    });
  });
});

test('ark: text and first frame, never less than the hour that the vendor asks for', async () => {
  const callbackUrl = 'https://qm.example.com/v1/vendors/callback/a';
  const { body } = await said(arkWire, { seed: 7, image, callbackUrl, deadlineMinutes: 5 });
  expect(body).toEqual({
    watermark: false,
    model: 'doubao-seedance-1-0-pro-250528',
    content: [
      { type: 'text', text: 'A calico cat plays a piano.' },
      { type: 'image_url', image_url: { url: IMAGE_URL }, role: 'first_frame' },
    ],
    resolution: '720p',
    ratio: '16:9',
    duration: 5,
    execution_expires_after: 3600,
    seed: 7,
    callback_url: callbackUrl,
  });
});

describe('a video made of another', () => {
  const url = 'https://qm.example.com/v1/video/content/vid_1.mp4?exp=1&sig=2';
  const options = { input: { parent_video: 'video_url', resolution: 'target' } };
  const parent = { job: null, url, seconds: 8 };

  test.each([falWire, replicateWire])('$name fetches it from us', async (wire) => {
    const { body } = await said(wire, { operation: 'upscale', parent, options, resolution: '4k', prompt: '' });
    expect((body as { input?: object }).input ?? body).toEqual({ video_url: url, target: '4k' });
    const { body: extended } = await said(wire, { operation: 'extend', parent, options });
    expect((extended as { input?: object }).input ?? extended).toEqual({
      video_url: url,
      target: '720p',
      prompt: 'A calico cat plays a piano.',
    });
  });

  test.each([openaiWire, falWire, replicateWire])(
    '$name is asked for nothing where it cannot have it',
    async (wire) => {
      const double = await startVendor(wire);
      open.push(double);
      const work = workFor(double, { operation: 'extend', parent: { job: null, url: null, seconds: 8 } });
      const submission = await adapterOf(wire.name).submit(callOf(double, outbound), work);
      expect(submission).toMatchObject({ kind: 'refused', reason: 'VALIDATION_FAILED', breaker: { kind: 'none' } });
      expect(double.calls).toEqual([]);
    },
  );
});

describe('rows that an adapter cannot serve', () => {
  const row = (more: Partial<VideoModelRow>): VideoModelRow => ({
    id: 'm',
    imageToVideo: false,
    seed: false,
    negativePrompt: false,
    extend: null,
    upscale: false,
    seconds: { only: [5] },
    resolutions: ['720p'],
    aspectRatios: ['16:9'],
    options: {},
    ...more,
  });
  const all = { imageToVideo: true, seed: true, negativePrompt: true, extend: 'stitched', upscale: true } as const;

  test.each<[string, Partial<VideoModelRow>, readonly string[]]>([
    ['openai-videos', { ...all, upscale: false }, []],
    ['openai-videos', all, ['upscale']],
    ['openai-videos', { extend: 'continuation' }, ['extend']],
    ['openai-videos', { ...all, upscale: false, options: { dialect: 'openrouter' } }, ['extend', 'negative_prompt']],
    ['dashscope', all, ['extend', 'upscale']],
    ['ark', all, ['negative_prompt', 'extend', 'upscale']],
    ['fal', {}, []],
    ['fal', all, ['input.negative_prompt', 'input.seed', 'input.reference_image', 'input.parent_video']],
    ['fal', { seconds: { min: 2, max: 9 } }, ['input.duration_seconds']],
    [
      'replicate',
      { resolutions: ['720p', '1080p'], aspectRatios: ['1:1', '16:9'] },
      ['input.resolution', 'input.aspect_ratio'],
    ],
    [
      'replicate',
      { options: { input: { resolution: { field: 'r', values: { '1080p': 'hd' } } } } },
      ['input.resolution.values'],
    ],
    ['replicate', { options: { input: { duration_seconds: { field: 'd', values: { 5: 'short' } } } } }, []],
  ])('%s %j: %j', (name, more, fields) => {
    const faults = adapterOf(name).check(row(more));
    expect(faults.map(({ field }) => field)).toEqual(fields);
  });

  test.each([
    [{ input: { prompt: 'text' } }, true],
    [{ input: { seed: 'a.b.c' } }, true],
    [{ input: { seed: { field: 'a', values: { 1: 'one' } } } }, true],
    [{ input: { colour: 'c' } }, false],
    [{ input: { seed: '__proto__.polluted' } }, false],
    [{ input: { seed: 'a.constructor.b' } }, false],
    [{ input: { seed: 'a..b' } }, false],
    [{ input: { seed: { field: 'a' } } }, false],
    [{ output: 'video.url' }, true],
    [{ output: '$[0]' }, false],
  ])('the fields of fal and replicate: %j is %s', (options, isValid) => {
    for (const name of ['fal', 'replicate']) {
      const schema = Type.Object(adapterOf(name).modelFields, { additionalProperties: false });
      expect(Value.Check(schema, options)).toBe(isValid);
    }
  });
});
