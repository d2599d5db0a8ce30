// The wire of OpenAI's images: their official client, unchanged, on jobs of the sandbox.
import OpenAI, { APIError, toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blank } from './harness.ts';
import { ImageBench } from './jobs-harness.ts';

const MODEL = 'sandbox/card-1';
const SMALL = { model: MODEL, prompt: 'A paper boat.', size: '256x256' } as const;

let bench: Awaited<ReturnType<typeof ImageBench.start>>;
let openai: OpenAI;
beforeAll(async () => {
  bench = await ImageBench.start();
  openai = new OpenAI({ apiKey: bench.secret, baseURL: `${bench.service.url}/v1` });
});
afterAll(() => bench.stop());

test('generate answers the images as base64, each a PNG of its size', async () => {
  const beforeSeconds = Math.floor(Date.now() / 1_000);
  const { data, created } = await openai.images.generate({ ...SMALL, n: 2 });
  expect(created).toBeGreaterThanOrEqual(beforeSeconds);
  expect(data).toHaveLength(2);
  for (const { b64_json: text } of data ?? [])
    expect(await sharp(Buffer.from(text as string, 'base64')).metadata()).toMatchObject({ format: 'png', width: 256 });
});

test('generate answers links when it is asked for them', async () => {
  const { data } = await openai.images.generate({ ...SMALL, response_format: 'url' });
  expect((await fetch(data?.[0]?.url as string)).headers.get('content-type')).toBe('image/png');
});

test('edit draws upon the picture', async () => {
  const image = await toFile(await blank(400, 400).png().toBuffer(), 'photo.png', { type: 'image/png' });
  const { data } = await openai.images.edit({ ...SMALL, image });
  const drawn = await sharp(Buffer.from(data?.[0]?.b64_json as string, 'base64'))
    .raw()
    .toBuffer();
  expect([...drawn.subarray(0, 3)]).toEqual([0xcc, 0x88, 0x44]);
});

test('the same Idempotency-Key makes one job', async () => {
  const own = await bench.another();
  const by = new OpenAI({ apiKey: own.secret, baseURL: `${bench.service.url}/v1` });
  const options = { headers: { 'idempotency-key': 'once' } };
  const [one, again] = [await by.images.generate(SMALL, options), await by.images.generate(SMALL, options)];
  expect(again.data).toEqual(one.data);
  expect((await own.ok('GET', '/v1/image/list')).items).toHaveLength(1);
  expect(await own.balance()).toBeCloseTo(4.999, 9);
});

test.each<[string, object, unknown[]]>([
  ['a field that is not there', { quality: 'hd' }, [400, 'VALIDATION_FAILED', 'quality']],
  ['a size that no model offers', { size: '1x1' }, [400, 'VALIDATION_FAILED', 'size']],
  ['a model that is not there', { model: 'dall-e-9' }, [404, 'MODEL_NOT_FOUND', 'model']],
  ['a job that fails', { prompt: '[[fail:CONTENT_REFUSED]]' }, [400, 'CONTENT_REFUSED', null]],
])('tells %s in the form of that API', async (_, over, seen) => {
  const error = await openai.images.generate({ ...SMALL, ...over } as never).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(APIError);
  const { status, code, param } = error as APIError;
  expect([status, code, param ?? null]).toEqual(seen);
});

test('what else that wire has is not found', async () => {
  const reply = await fetch(`${bench.service.url}/v1/images/variations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.secret}` },
  });
  expect(reply.status).toBe(404);
});
