// Images of words in the sandbox: what a job makes, costs and leaves, and what is refused before it begins.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blank } from './harness.ts';
import { ImageBench } from './jobs-harness.ts';

let bench: Awaited<ReturnType<typeof ImageBench.start>>;
beforeAll(async () => {
  bench = await ImageBench.start();
});
afterAll(() => bench.stop());

const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

test('a job makes its images, which links give; it costs what it was quoted, and its end is told', async () => {
  const own = await bench.another();
  const wish = { prompt: 'A paper boat.', size: '256x256', n: 2 };
  expect(await own.ok('POST', '/v1/image/quote', wish)).toMatchObject({ max_cost_usd: 0.002 });
  const begun = await own.generate({ n: 2 });
  expect(begun).toMatchObject({ state: 'queued', n: 2, size: '256x256', images: [], cost_usd: null });
  const job = await own.ended(begun.job_id);
  expect(job).toMatchObject({ state: 'succeeded', vendor: 'sandbox', cost_usd: 0.002, error: null });
  expect(job.images).toHaveLength(2);
  for (const { url, width, height, size_bytes: length } of job.images) {
    const bytes = await bytesOf(url);
    expect([bytes.length, width, height]).toEqual([length, 256, 256]);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 256, height: 256 });
  }
  const [first, second] = await Promise.all(job.images.map(({ url }: { url: string }) => bytesOf(url)));
  expect((first as Buffer).equals(second as Buffer)).toBe(false);
  expect(await own.ok('GET', `/v1/image/status/${job.job_id}`)).toMatchObject({
    state: 'succeeded',
    progress_pct: 100,
  });
  expect((await own.ok('GET', '/v1/image/list')).items[0].job_id).toBe(job.job_id);
  expect(await own.balance()).toBeCloseTo(4.998, 9);
});

test('the same request with the same seed makes the same bytes, another seed others', async () => {
  const made = async (seed: number) => {
    const { job_id: id } = await bench.generate({ seed });
    return bytesOf((await bench.ended(id)).images[0].url);
  };
  const [one, again, other] = [await made(7), await made(7), await made(8)];
  expect(one.equals(again)).toBe(true);
  expect(one.equals(other)).toBe(false);
});

test('an image that is sent is drawn upon', async () => {
  const picture = (await blank(400, 400).png().toBuffer()).toString('base64');
  const { job_id: id } = await bench.generate({ image: { content_base64: picture } });
  const drawn = await bytesOf((await bench.ended(id)).images[0].url);
  expect([...(await sharp(drawn).raw().toBuffer()).subarray(0, 3)]).toEqual([0xcc, 0x88, 0x44]);
});

test('a prompt orders a failure: nothing is charged', async () => {
  const own = await bench.another();
  const { job_id: id } = await own.generate({ prompt: '[[fail:CONTENT_REFUSED]]' });
  const job = await own.ended(id);
  expect(job).toMatchObject({ state: 'failed', cost_usd: 0, images: [], error: { code: 'CONTENT_REFUSED' } });
  expect(await own.balance()).toBe(5);
});

test('a live job is cancelled, and all is given back; a job that is deleted takes its links with it', async () => {
  const own = await bench.another();
  const { job_id: hanging } = await own.generate({ prompt: '[[hang]]' });
  expect(await own.ok('POST', `/v1/image/cancel/${hanging}`)).toMatchObject({ state: 'cancelled', cost_usd: 0 });
  expect(await own.balance()).toBe(5);
  const job = await own.ended((await own.generate()).job_id);
  expect(await own.ok('DELETE', `/v1/image/delete/${job.job_id}`)).toEqual({ ok: true, job_id: job.job_id });
  expect((await fetch(job.images[0].url)).status).toBe(404);
  expect((await own.call('GET', `/v1/image/get/${job.job_id}`)).status).toBe(404);
});

test('a link that was changed, or is of another job, gives nothing', async () => {
  const job = await bench.ended((await bench.generate()).job_id);
  const url: string = job.images[0].url;
  for (const forged of [url.replace('.0.png', '.1.png'), url.replace(/exp=\d+/, 'exp=9999999999')])
    expect((await fetch(forged)).status).toBe(403);
  const head = await fetch(url, { headers: { range: 'bytes=0-7' } });
  expect([head.status, head.headers.get('content-type')]).toEqual([206, 'image/png']);
});

test('a stored image costs its storage in advance, never more than was held', async () => {
  const job = await bench.ended((await bench.generate({ store: true, retention_days: 30 })).job_id);
  expect(job.retention_days).toBe(30);
  expect(job.cost_usd).toBeGreaterThan(0.001);
  expect(job.cost_usd).toBeLessThan(0.0011);
});

describe('is refused before it begins', () => {
  test.each<[string, object, string, string | undefined]>([
    ['no prompt', { prompt: '' }, 'prompt', undefined],
    ['a size that no model offers', { size: '300x300' }, 'size', 'size_not_offered'],
    ['eleven images', { n: 11 }, 'n', undefined],
    ['a mask without an image', { mask: { content_base64: 'aGk=' } }, 'mask', 'needs_image'],
    ['an image that is none', { image: { content_base64: 'aGk=' } }, 'image', 'not_an_image'],
    ['days without store', { retention_days: 3 }, 'retention_days', 'needs_store'],
  ])('%s', async (_, over, param, detail) => {
    const reply = await bench.call('POST', '/v1/image/generate', { prompt: 'A boat.', size: '256x256', ...over });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(JSON.stringify(reply.body.error)).toContain(`"${param}"`);
    if (detail !== undefined) expect(JSON.stringify(reply.body.error)).toContain(detail);
  });

  test('a model that is not there, and an account without credit', async () => {
    const wrong = await bench.call('POST', '/v1/image/generate', { prompt: 'A boat.', model: 'card-2' });
    expect([wrong.status, wrong.body.error.code]).toEqual([404, 'MODEL_NOT_FOUND']);
    const poor = await bench.another(0);
    expect((await poor.call('POST', '/v1/image/generate', { prompt: 'A boat.' })).status).toBe(402);
  });
});
