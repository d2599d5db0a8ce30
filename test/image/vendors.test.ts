// Images at vendors outside, by both wires: what they are sent, what is kept and charged, and what becomes of the money when they fail.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readBills } from '../../src/routing/bills.ts';
import { blank } from './harness.ts';
import { type Asked, ImageBench, openVendor, type Vendor } from './jobs-harness.ts';

let bench: Awaited<ReturnType<typeof ImageBench.start>>;
let [openai, fal]: Vendor[] = [];
let photo: Buffer;
beforeAll(async () => {
  photo = await blank(256, 256).jpeg().toBuffer();
  openai = await openVendor(() => ({}));
  fal = await openVendor(() => ({}));
  bench = await ImageBench.start([
    {
      id: 'ours',
      adapter: 'openai-images',
      base_url: `${openai.url}/v1`,
      priority: 1,
      models: [
        {
          id: 'painter',
          price: { per_image: 0.04 },
          sizes: ['256x256'],
          images_max: 2,
          edit: true,
          extra: { quality: 'low' },
        },
      ],
    },
    {
      id: 'fal',
      adapter: 'fal',
      base_url: fal.url,
      priority: 2,
      models: [
        {
          id: 'fal-ai/flux',
          price: { per_image: { '256x256': 0.05 } },
          sizes: ['256x256'],
          images_max: 4,
          seed: true,
          input: { width: 'image_size.width', height: 'image_size.height', n: 'num_images', seed: 'seed' },
        },
      ],
    },
  ]);
});
afterAll(async () => {
  await bench.stop();
  openai?.close();
  fal?.close();
});
beforeEach(() => {
  openai?.asked.splice(0);
  fal?.asked.splice(0);
});

const base64 = () => ({ b64_json: photo.toString('base64') });

/** fal's queue: accepted, then done. */
function queue({ method, path }: Asked) {
  if (path.startsWith('/photo')) return { bytes: photo };
  if (method === 'POST') return { json: { request_id: 'r1' } };
  if (path.endsWith('/status')) return { json: { status: 'COMPLETED' } };
  return { json: { images: [{ url: `${fal?.url}/photo/1` }, { url: `${fal?.url}/photo/2` }] } };
}

async function losses(): Promise<readonly [string, string, number][]> {
  const bills = await readBills(bench.service.core.db, 0, null);
  return bills.map(({ vendor, cause, bills: count }) => [vendor, cause, count] as [string, string, number]);
}

describe('openai-images', () => {
  test('brings the images with its answer; they are kept, and charged with what was asked for', async () => {
    const own = await bench.another();
    (openai as Vendor).answer = () => ({ json: { created: 1, data: [base64(), base64()] } });
    const job = await own.ended((await own.generate({ vendor: 'ours', n: 2 })).job_id, { advances: true });
    expect(job).toMatchObject({ state: 'succeeded', vendor: 'ours', model: 'ours/painter', cost_usd: 0.08 });
    expect(openai?.asked).toHaveLength(1);
    expect(openai?.asked[0]).toMatchObject({
      path: '/v1/images/generations',
      authorization: 'Bearer vendor-key',
      body: { model: 'painter', prompt: 'A paper boat.', n: 2, size: '256x256', quality: 'low' },
    });
    expect(job.images).toHaveLength(2);
    expect(Buffer.from(await (await fetch(job.images[0].url)).arrayBuffer())).toEqual(photo);
    expect(job.images[0]).toMatchObject({ content_type: 'image/jpeg', width: 256, height: 256 });
    expect(await own.balance()).toBeCloseTo(4.92, 9);
  });

  test('names where they are, or makes fewer: those that came are charged', async () => {
    const own = await bench.another();
    (openai as Vendor).answer = ({ method }) =>
      method === 'GET' ? { bytes: photo } : { json: { data: [{ url: `${openai?.url}/files/1` }] } };
    const job = await own.ended((await own.generate({ vendor: 'ours', n: 2 })).job_id, { advances: true });
    expect(job).toMatchObject({ state: 'succeeded', cost_usd: 0.04, warnings: ['The vendor made 1 of 2 images.'] });
  });

  test('gets what is drawn upon as a form', async () => {
    (openai as Vendor).answer = () => ({ json: { data: [base64()] } });
    const image = { content_base64: photo.toString('base64') };
    const job = await bench.ended((await bench.generate({ vendor: 'ours', image })).job_id, { advances: true });
    expect(job.state).toBe('succeeded');
    expect(openai?.asked[0]?.path).toBe('/v1/images/edits');
    expect(openai?.asked[0]?.body).toContain('name="image"; filename="image.png"');
  });

  test('hangs up: the request is sent nowhere again, and what it may cost is given back', async () => {
    const own = await bench.another();
    (openai as Vendor).answer = () => null;
    const { job_id: id } = await own.generate({ model: 'auto' });
    for (let i = 0; i < 12; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await bench.service.advance(60);
    }
    const job = await own.ended(id, { advances: true });
    expect(job).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'VENDOR_TIMEOUT', code_detail: 'outcome_unknown' },
    });
    expect([openai?.asked.length, fal?.asked.length]).toEqual([1, 0]);
    expect(await own.balance()).toBe(5);
  });

  test('delivers what is no image: the caller pays nothing, and the loss is booked', async () => {
    const own = await bench.another();
    (openai as Vendor).answer = () => ({ json: { data: [{ b64_json: Buffer.from('<html>').toString('base64') }] } });
    const job = await own.ended((await own.generate({ vendor: 'ours' })).job_id, { advances: true });
    expect(job).toMatchObject({ state: 'failed', cost_usd: 0, error: { code: 'VENDOR_ERROR' } });
    expect(await losses()).toContainEqual(['ours', 'unsound', 1]);
    expect(await own.balance()).toBe(5);
  });

  test('refuses the content: nobody else is asked', async () => {
    (openai as Vendor).answer = () => ({
      status: 400,
      json: { error: { message: 'no', type: 'image_generation_user_error', code: 'moderation_blocked' } },
    });
    const job = await bench.ended((await bench.generate({ model: 'auto' })).job_id, { advances: true });
    expect(job.error).toMatchObject({ code: 'CONTENT_REFUSED' });
    expect(fal?.asked).toEqual([]);
  });
});

test('a vendor that is down is left for the next one, and the job says so', async () => {
  (openai as Vendor).answer = () => ({ status: 503, json: { error: { message: 'busy', code: 'server_error' } } });
  (fal as Vendor).answer = queue;
  const job = await bench.ended((await bench.generate({ n: 2, seed: 3 })).job_id, { advances: true });
  expect(job).toMatchObject({ state: 'succeeded', vendor: 'fal', cost_usd: 0.1 });
  expect(job.metadata.failover_info).toMatchObject({ primary_vendor: 'ours', failover_reason: 'VENDOR_DOWN' });
  expect(fal?.asked[0]).toMatchObject({
    path: '/fal-ai/flux',
    authorization: 'Key vendor-key',
    body: { prompt: 'A paper boat.', image_size: { width: 256, height: 256 }, num_images: 2, seed: 3 },
  });
  expect(job.images).toHaveLength(2);
});

test('capabilities tell what the file says', async () => {
  const { models } = await bench.ok('GET', '/v1/image/capabilities');
  expect(models.find(({ model }: { model: string }) => model === 'ours/painter')).toMatchObject({
    sizes: ['256x256'],
    images_max: 2,
    seed: false,
    edit: true,
    price_per_image_usd: { '256x256': 0.04 },
  });
});
