// Jobs at vendors outside, which are doubles that speak the vendors' wires: who is asked, what is made, and what is paid to whom.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { falWire, openaiWire, replicateWire } from '../support/vendors/wires.ts';
import { arkWire } from '../support/vendors/wires-china.ts';
import type { Data } from './harness.ts';
import { PER_SECOND, VendorBench } from './vendors-harness.ts';

const WITH_MARKUP = PER_SECOND * 1.05;

let bench: VendorBench;
beforeAll(async () => {
  bench = await VendorBench.at([
    { id: 'acme', wire: openaiWire, entry: { priority: 1 } },
    { id: 'bolt', wire: falWire, entry: { priority: 2 } },
    { id: 'corp', wire: replicateWire, entry: { priority: 3 } },
  ]);
});
afterAll(() => bench.close());
beforeEach(() => {
  for (const double of bench.doubles.values()) {
    double.forget();
    double.endsAfterPolls = 1;
  }
});

const counts = () => [...bench.doubles.values()].map((double) => double.count('submit'));

describe('a video by a vendor', () => {
  test('is made by the first that can, kept here, and costs its price with the markup', async () => {
    const before = await bench.balance();
    const begun = await bench.job({ duration_seconds: 4, seed: 7 });
    expect(begun).toMatchObject({ state: 'queued', vendor: 'acme', model: 'acme/sora-2', cost_usd: null });
    expect((await bench.balance()).held).toBeCloseTo(before.held + 4 * WITH_MARKUP, 9);
    const job = await bench.soon(begun.job_id);
    expect(job).toMatchObject({ state: 'succeeded', vendor: 'acme', width: 320, height: 180, error: null });
    expect(job.cost_usd).toBeCloseTo(4 * WITH_MARKUP, 9);
    expect(job.metadata).toMatchObject({ vendor: 'acme', markup_pct: 0.05, cost_usd: job.cost_usd });
    expect(job.metadata.failover_info).toBeUndefined();
    // It has one second; four were asked for.
    expect(job.warnings).toEqual(['The video is 1 seconds long, not 4.']);
    const video = await fetch(job.video_url);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const after = await bench.balance();
    expect(after.held).toBe(before.held);
    expect(before.balance - after.balance).toBeCloseTo(4 * WITH_MARKUP, 9);
    expect((await bench.books())['acme sold']).toMatchObject({ billed: 4 * PER_SECOND, captured: job.cost_usd });
    expect(await bench.findings()).toEqual([]);
    expect((await bench.events()).map(({ type }) => type)).toEqual(['account.created', 'video.job.completed']);
  });
});

describe('a vendor that does not take it', () => {
  const leaves: [string, Data, string][] = [
    ['is down', { refusal: 'down' }, 'VENDOR_DOWN'],
    ['does not know the key', { refusal: 'auth' }, 'VENDOR_AUTH_ERROR'],
    ['is too busy', { refusal: 'busy', retryAfterS: 1 }, 'RATE_LIMIT_VENDOR'],
  ];
  // A bench of its own for each: what a vendor is down for is known to all afterwards.
  test.each(leaves)('because it %s is left for the next, who is paid', async (_, fault, reason) => {
    const own = await VendorBench.at([
      { id: 'acme', wire: openaiWire, entry: { priority: 1 } },
      { id: 'bolt', wire: falWire, entry: { priority: 2, markup_pct: 0 } },
    ]);
    own.double('acme').script('submit', fault);
    const job = await own.soon((await own.job({ duration_seconds: 2 })).job_id);
    expect(job).toMatchObject({ state: 'succeeded', vendor: 'bolt', model: `bolt/${falWire.model}` });
    expect(job.metadata.failover_info).toEqual({
      primary_vendor: 'acme',
      actual_vendor: 'bolt',
      primary_model: 'sora-2',
      actual_model: falWire.model,
      cost_at_primary: 2 * WITH_MARKUP,
      cost_at_actual: 2 * PER_SECOND,
      cost_multiplier: Number((1 / 1.05).toFixed(6)),
      failover_reason: reason,
      fallback_chain_depth: 1,
    });
    expect(job.cost_usd).toBeCloseTo(2 * PER_SECOND, 9);
    expect([...own.doubles.values()].map((double) => double.count('submit'))).toEqual([1, 1]);
    expect(Object.keys(await own.books())).toEqual(['bolt sold']);
    expect(await own.findings()).toEqual([]);
    await own.close();
  });

  test.each<[string, Data, [number, string]]>([
    ['content', { refusal: 'content' }, [400, 'CONTENT_REFUSED']],
    ['a field', { refusal: 'invalid' }, [400, 'VALIDATION_FAILED']],
  ])(
    'because it refuses %s ends the job: nobody else is asked, nothing is charged',
    async (_, fault, [status, code]) => {
      const before = { counts: counts(), balance: await bench.balance() };
      bench.double('acme').script('submit', fault);
      const job = await bench.soon((await bench.job()).job_id);
      expect(job).toMatchObject({ state: 'failed', cost_usd: 0, error: { http_status: status, code } });
      expect(counts()).toEqual([(before.counts[0] as number) + 1, ...before.counts.slice(1)]);
      expect(await bench.balance()).toEqual(before.balance);
    },
  );

  test('is asked again for ten minutes when it was pinned; then the job has failed for its reason', async () => {
    const own = await VendorBench.at([
      { id: 'acme', wire: openaiWire },
      { id: 'bolt', wire: falWire },
    ]);
    own.double('acme').script('submit', { refusal: 'auth' });
    const { job_id: id } = await own.job({ vendor: 'acme' });
    await own.soon(id, (job) => job.state === 'queued' && own.double('acme').count('submit') === 1);
    await own.service.advance(601);
    own.double('acme').script('submit', { refusal: 'auth' }, { refusal: 'auth' });
    const job = await own.soon(id);
    expect(job).toMatchObject({ state: 'failed', error: { http_status: 502, code: 'VENDOR_AUTH_ERROR' }, cost_usd: 0 });
    expect(own.double('bolt').count('submit')).toBe(0);
    expect((await own.balance()).held).toBe(0);
    await own.close();
  });
});

describe('a job that its vendor has taken', () => {
  const acme = () => bench.double('acme');
  const taken = () => bench.taken('acme');

  test('shows the vendor’s progress, which never falls', async () => {
    const { id, at } = await taken();
    Object.assign(at, { state: 'running', progressPct: 40 });
    await bench.soon(id, (job) => job.state === 'running');
    const status = async () => (await bench.ok('GET', `/v1/video/status/${id}`)).progress_pct;
    expect(await status()).toBe(40);
    at.progressPct = 10;
    const polls = at.polls;
    await bench.soon(id, () => at.polls > polls + 1);
    expect(await status()).toBe(40);
    at.state = 'succeeded';
    expect(await bench.soon(id)).toMatchObject({ state: 'succeeded' });
    expect(await status()).toBe(100);
  });

  test.each<[string, (at: Data) => void, Data]>([
    ['fails', (at) => Object.assign(at, { state: 'failed' }), { state: 'failed', error: { code: 'VENDOR_ERROR' } }],
    [
      'is refused for its content at last',
      (at) => Object.assign(at, { state: 'failed', failure: 'content' }),
      { state: 'failed', error: { code: 'CONTENT_REFUSED', http_status: 400 } },
    ],
    ['is lost by the vendor', () => acme().jobs.pop(), { state: 'failed', error: { code: 'VENDOR_ERROR' } }],
  ])('and which %s costs nothing', async (_, change, expected) => {
    const before = await bench.balance();
    const { id, at } = await taken();
    change(at);
    expect(await bench.soon(id)).toMatchObject({ ...expected, cost_usd: 0 });
    expect(await bench.balance()).toEqual(before);
    expect(await bench.findings()).toEqual([]);
  });

  test('and whose polls fail goes on', async () => {
    const { id, at } = await taken();
    acme().script('poll', 'reset', 'html', 'rubbish', { proxy: 502 }, { refusal: 'down' });
    at.state = 'succeeded';
    expect(await bench.soon(id)).toMatchObject({ state: 'succeeded' });
    expect(at.polls).toBeGreaterThan(0);
  });

  test.each<[string, Data]>([
    ['a page', 'html'],
    ['JSON', 'json'],
    ['nothing', 'empty'],
    ['half an MP4', { bytes: Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp42\0\0\0\x40moov') }],
  ])('and delivers %s as its video has failed; what the vendor bills is a loss', async (_, video) => {
    const sound = acme().video;
    const before = (await bench.books())['acme unsound'] ?? { billed: 0, bills: 0 };
    acme().video = video;
    const job = await bench.soon((await bench.job({ vendor: 'acme' })).job_id);
    acme().video = sound;
    expect(job).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'VENDOR_ERROR', code_detail: 'unsound_video' },
    });
    const after = (await bench.books())['acme unsound'];
    expect(after.bills).toBe(before.bills + 1);
    expect(after.billed - before.billed).toBeCloseTo(PER_SECOND, 9);
  });
});

describe('cancelling', () => {
  test('where the vendor stops unbilled, everything is given back at once', async () => {
    const before = await bench.balance();
    const { id, at } = await bench.taken('acme');
    const job = await bench.ok('POST', `/v1/video/cancel/${id}`);
    expect(job).toMatchObject({
      state: 'cancelled',
      cost_usd: 0,
      cancel: { vendor_stopped: 'yes', may_be_charged: false },
    });
    expect([at.state, await bench.balance()]).toEqual(['cancelled', before]);
  });

  test('where the vendor bills what ran, that is charged once it says so', async () => {
    const { id, at } = await bench.taken('corp', { duration_seconds: 3 });
    Object.assign(at, { state: 'running', started: true });
    const job = await bench.ok('POST', `/v1/video/cancel/${id}`);
    expect(job).toMatchObject({ state: 'cancelled', cancel: { may_be_charged: true } });
    expect([job.cost_usd, (await bench.balance()).held > 0]).toEqual([null, true]);
    const settled = await bench.soon(id, ({ cost_usd }) => cost_usd !== null);
    expect(settled.cost_usd).toBeCloseTo(3 * WITH_MARKUP, 9);
    expect(settled.cancel.may_be_charged).toBe(false);
    expect((await bench.balance()).held).toBe(0);
    expect(await bench.findings()).toEqual([]);
  });

  test('where it is not known whether the vendor works, the hold waits ten minutes', async () => {
    bench.double('bolt').script('submit', 'reset');
    const { job_id: id } = await bench.job({ vendor: 'bolt' });
    await bench.soon(id, () => bench.double('bolt').count('submit') > 0);
    const job = await bench.ok('POST', `/v1/video/cancel/${id}`);
    expect(job).toMatchObject({
      state: 'cancelled',
      cost_usd: null,
      cancel: { vendor_stopped: 'requested', may_be_charged: true },
    });
    await bench.service.advance(601);
    expect((await bench.soon(id, ({ cost_usd }) => cost_usd !== null)).cost_usd).toBe(0);
    expect((await bench.balance()).held).toBe(0);
  });
});

describe('an answer that was lost', () => {
  test('is not followed by another submission anywhere; after ten minutes nothing is charged', async () => {
    const before = { counts: counts(), balance: await bench.balance() };
    bench.double('bolt').script('submit', 'lost');
    const { job_id: id } = await bench.job({ vendor: 'bolt', duration_seconds: 2 });
    await bench.soon(id, () => bench.double('bolt').jobs.length > 0);
    await bench.service.advance(590);
    expect((await bench.get(id)).state).toBe('queued');
    await bench.service.advance(15);
    const job = await bench.soon(id);
    expect(job).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'VENDOR_TIMEOUT', code_detail: 'outcome_unknown', retryable: true },
    });
    expect(counts()).toEqual([before.counts[0], (before.counts[1] as number) + 1, before.counts[2]]);
    expect(await bench.balance()).toEqual(before.balance);
  });
});

test('at its deadline a job has expired; the vendor is told, and what it makes all the same is a loss', async () => {
  const own = await VendorBench.at([{ id: 'dora', wire: arkWire, model: { deadline_minutes: 1 } }]);
  const { id, at } = await own.taken('dora', { duration_seconds: 5 });
  Object.assign(at, { state: 'running', started: true });
  await own.service.advance(61);
  const job = await own.soon(id);
  expect(job).toMatchObject({ state: 'expired', end_reason: 'deadline', cost_usd: 0, error: null });
  expect((await own.balance()).held).toBe(0);
  at.state = 'succeeded';
  await own.soon(id, async () => Object.keys(await own.books()).length > 0);
  expect(await own.books()).toEqual({ 'dora late': { bills: 1, billed: 5 * PER_SECOND, captured: 0 } });
  expect((await own.get(id)).state).toBe('expired');
  await own.close();
});

test('while all that could make a video are down, none is begun, and nothing is held', async () => {
  const own = await VendorBench.at([{ id: 'acme', wire: openaiWire }]);
  own.double('acme').script('submit', { refusal: 'auth' });
  const { job_id: id } = await own.job();
  await own.soon(id, () => own.double('acme').count('submit') === 1);
  await own.ok('POST', `/v1/video/cancel/${id}`);
  const held = await own.balance();
  expect(await own.fails('POST', '/v1/video/generate', { prompt: 'A boat.', duration_seconds: 1 })).toEqual([
    ...[502, 'VENDOR_AUTH_ERROR', undefined, undefined],
  ]);
  expect(await own.balance()).toEqual(held);
  expect((await own.ok('GET', '/v1/video/list')).items).toHaveLength(1);
  await own.service.advance(301);
  await own.until(() => own.service.core.vendors.health.downFor('acme', 'video.generate') === null);
  expect(await own.soon((await own.job()).job_id)).toMatchObject({ state: 'succeeded' });
  await own.close();
});
