// Longer and larger videos by vendors: what a vendor is told of the video that it works on, what it is paid, and what nobody could do is
// refused at the call, before anything is held or sent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { falWire, openaiWire } from '../support/vendors/wires.ts';
import type { Data } from './harness.ts';
import { PER_SECOND, VendorBench, type VendorOptions } from './vendors-harness.ts';

const WITH_MARKUP = PER_SECOND * 1.05;
const input = { ...(falWire.options.input as Data), duration_seconds: 'duration', parent_video: 'video_url' };
const vendors: VendorOptions[] = [
  // Told by a job of its own.
  { id: 'acme', wire: openaiWire, entry: { priority: 1 }, model: { extend: 'stitched' } },
  // Told by an address.
  {
    id: 'bolt',
    wire: falWire,
    entry: { priority: 2 },
    model: { input, extend: 'continuation', upscale: true, resolutions: ['720p', '1080p'] },
  },
  { id: 'far', wire: openaiWire, entry: { priority: 0, region: 'china' }, model: { id: 'far-1', extend: 'stitched' } },
];

const made = async (bench: VendorBench, over: Data) => (await bench.soon((await bench.job(over)).job_id)).job_id;
const submits = (bench: VendorBench) => [...bench.doubles.values()].map((double) => double.count('submit'));

/** The call fails so, nothing is held, and nobody was asked. */
async function refuses(bench: VendorBench, path: string, body: Data, error: readonly unknown[]): Promise<void> {
  const before = [await bench.balance(), submits(bench)];
  expect(await bench.fails('POST', path, body)).toEqual(error);
  expect([await bench.balance(), submits(bench)]).toEqual(before);
}

describe('where vendors can reach the service', () => {
  let bench: VendorBench;
  beforeAll(async () => {
    bench = await VendorBench.at(vendors, { BASE_URL: 'https://qm.example.com' });
  });
  afterAll(() => bench.close());

  test('the vendor that made a video extends it by its own job; what is added is paid, the whole is delivered', async () => {
    const parent = await made(bench, { vendor: 'acme', duration_seconds: 4 });
    const before = await bench.balance();
    const begun = await bench.ok('POST', `/v1/video/extend/${parent}`, { prompt: 'Rain.', duration_seconds: 3 });
    expect((await bench.balance()).held - before.held).toBeCloseTo(3 * WITH_MARKUP, 9);
    const job = await bench.soon(begun.job_id);
    expect(job).toMatchObject({
      state: 'succeeded',
      operation: 'extend',
      parent_job_id: parent,
      vendor: 'acme',
      extend_mode: 'stitched',
      duration_seconds: 7,
    });
    expect(job.cost_usd).toBeCloseTo(3 * WITH_MARKUP, 9);
    const { jobs, calls } = bench.double('acme');
    expect(calls.findLast(({ operation }) => operation === 'submit')?.path).toBe('/v1/videos/extensions');
    const [first, second] = jobs.slice(-2);
    expect(second?.submitted.body).toEqual({ video: { id: first?.reference }, prompt: 'Rain.', seconds: '3' });
    expect(await bench.findings()).toEqual([]);
  });

  test('another vendor fetches the video by a signed address; of a continuation only what was added is delivered', async () => {
    const parent = await made(bench, { vendor: 'acme', duration_seconds: 4 });
    const body = { vendor: 'bolt', duration_seconds: 5 };
    const job = await bench.soon((await bench.ok('POST', `/v1/video/extend/${parent}`, body)).job_id);
    expect(job).toMatchObject({ state: 'succeeded', vendor: 'bolt', extend_mode: 'continuation', duration_seconds: 5 });
    expect(job.cost_usd).toBeCloseTo(5 * WITH_MARKUP, 9);
    const sent = bench.double('bolt').jobs.at(-1)?.submitted.body as Data;
    const { origin, pathname, search } = new URL(sent.video_url);
    expect([origin, pathname]).toEqual(['https://qm.example.com', `/v1/video/content/${parent}.mp4`]);
    const video = await fetch(`${bench.service.url}${pathname}${search}`);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    // What is made of it begins with what it delivers.
    const larger = { resolution: '1080p', vendor: 'bolt' };
    const begun = await bench.ok('POST', `/v1/video/upscale/${job.job_id}`, larger);
    expect(await bench.soon(begun.job_id)).toMatchObject({ state: 'succeeded', duration_seconds: 5 });
    expect((await bench.get(begun.job_id)).cost_usd).toBeCloseTo(5 * 2 * WITH_MARKUP, 9);
    expect(await bench.findings()).toEqual([]);
  });

  test('a vendor that works only on videos of its own is passed over for another’s, and refused when it is named', async () => {
    const parent = await made(bench, { vendor: 'bolt', duration_seconds: 2 });
    const job = await bench.ok('POST', `/v1/video/extend/${parent}`, { duration_seconds: 1 });
    expect(await bench.soon(job.job_id)).toMatchObject({ state: 'succeeded', vendor: 'bolt' });
    const elsewhere = [400, 'VENDOR_NOT_AVAILABLE', 'model', 'made_elsewhere'];
    await refuses(bench, `/v1/video/extend/${parent}`, { vendor: 'acme', duration_seconds: 1 }, elsewhere);
  });

  test('the sandbox makes no video of a vendor’s into one of its own', async () => {
    const parent = await made(bench, { vendor: 'acme' });
    const elsewhere = [400, 'VENDOR_NOT_AVAILABLE', 'model', 'made_elsewhere'];
    const sandbox = { model: 'sandbox/storyboard-1' };
    await refuses(bench, `/v1/video/extend/${parent}`, { ...sandbox, duration_seconds: 1 }, elsewhere);
    await refuses(bench, `/v1/video/upscale/${parent}`, { ...sandbox, resolution: '1080p' }, elsewhere);
  });

  test('a video that was made in another region is extended there; no other one leaves the region', async () => {
    const parent = await made(bench, { model: 'far-1', cross_region: true });
    const job = await bench.ok('POST', `/v1/video/extend/${parent}`, { model: 'far-1', duration_seconds: 1 });
    expect(await bench.soon(job.job_id)).toMatchObject({ state: 'succeeded', vendor: 'far' });
    const near = await made(bench, { vendor: 'acme' });
    const region = [400, 'VENDOR_NOT_AVAILABLE', 'vendor', 'region'];
    await refuses(bench, `/v1/video/extend/${near}`, { vendor: 'far', duration_seconds: 1 }, region);
  });

  test('a video of the sandbox goes on at a vendor that fetches it', async () => {
    const { job_id: parent } = await bench.ended((await bench.job({ model: 'sandbox/storyboard-1' })).job_id);
    const job = await bench.ok('POST', `/v1/video/extend/${parent}`, { duration_seconds: 2 });
    expect(await bench.soon(job.job_id)).toMatchObject({ state: 'succeeded', vendor: 'bolt' });
  });

  test('what no model offers is refused: the resolution, the length, the whole above 180 seconds', async () => {
    const parent = await made(bench, { vendor: 'bolt', duration_seconds: 2 });
    const at = (operation: string) => `/v1/video/${operation}/${parent}`;
    const larger = [400, 'VALIDATION_FAILED', 'resolution', 'resolution_not_offered'];
    await refuses(bench, at('upscale'), { resolution: '4k', vendor: 'bolt' }, larger);
    const long = [400, 'DURATION_EXCEEDED', 'duration_seconds', undefined];
    await refuses(bench, at('extend'), { vendor: 'bolt', duration_seconds: 11 }, long);
    const no = [400, 'VENDOR_NOT_AVAILABLE', 'vendor', undefined];
    await refuses(bench, at('upscale'), { resolution: '1080p', vendor: 'acme' }, no);
  });

  test('a video that is not kept any more is no parent; one that goes while its extension waits fails it, unpaid', async () => {
    const parent = await made(bench, { vendor: 'bolt' });
    const path = `/v1/video/extend/${parent}`;
    bench.double('bolt').script('submit', { refusal: 'down' });
    const before = submits(bench);
    const { job_id: id } = await bench.ok('POST', path, { vendor: 'bolt', duration_seconds: 1 });
    await bench.until(() => submits(bench)[1] === (before[1] as number) + 1);
    await bench.ok('DELETE', `/v1/video/delete/${parent}`);
    expect(await bench.soon(id)).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'STATE_CONFLICT', http_status: 409, code_detail: 'output_expired' },
    });
    await refuses(bench, path, { duration_seconds: 1 }, [404, 'JOB_NOT_FOUND', 'job_id', undefined]);
    const old = await made(bench, { vendor: 'bolt' });
    await bench.service.advance(25 * 3_600);
    const expired = [409, 'STATE_CONFLICT', 'job_id', 'output_expired'];
    await refuses(bench, `/v1/video/extend/${old}`, { duration_seconds: 1 }, expired);
    expect((await bench.balance()).held).toBe(0);
  });
});

test('without a public address a vendor that would fetch the video is passed over, and refused when it is named', async () => {
  const bench = await VendorBench.at(vendors);
  const nowhere = [400, 'VENDOR_NOT_AVAILABLE', 'model', 'no_public_address'];
  const own = await made(bench, { vendor: 'acme' });
  const job = await bench.ok('POST', `/v1/video/extend/${own}`, { duration_seconds: 1, model: 'smartest' });
  expect(await bench.soon(job.job_id)).toMatchObject({ state: 'succeeded', vendor: 'acme' });
  await refuses(bench, `/v1/video/extend/${own}`, { vendor: 'bolt', duration_seconds: 1 }, nowhere);
  await refuses(bench, `/v1/video/upscale/${own}`, { resolution: '1080p' }, nowhere);
  // Neither can go on with what bolt has made; each says why.
  const other = await made(bench, { vendor: 'bolt' });
  expect((await bench.fails('POST', `/v1/video/extend/${other}`, { duration_seconds: 1 }))[1]).toBe(
    'VENDOR_NOT_AVAILABLE',
  );
  await bench.close();
});
