// One table for all adapters: each against a server that speaks the vendor's documented wire, for every way in which a vendor can
// answer, refuse, fail and lie.
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { videoAdapters } from '../../src/vendors/video/index.ts';
import type { VendorJob, VideoAdapter, VideoWork } from '../../src/vendors/video/port.ts';
import { type Fault, startVendor, type VendorDouble } from '../support/vendors/double.ts';
import { callOf, guardedClient, wires, workFor } from '../support/vendors/index.ts';
import type { DoubleJob, Wire } from '../support/vendors/wire.ts';

const CALLBACK_URL = 'https://qm.example.com/v1/vendors/callback/tok_0123456789abcdef';
let outbound: OutboundClient;
beforeAll(() => {
  outbound = guardedClient();
});
afterAll(() => outbound.close());

describe.each(wires.map((wire) => [wire.name, wire] as const))('%s', (name, wire: Wire) => {
  let adapter: VideoAdapter;
  let double: VendorDouble;
  beforeEach(async () => {
    adapter = videoAdapters().get(name) as VideoAdapter;
    double = await startVendor(wire);
  });
  afterEach(() => double.close());

  const call = (more: Parameters<typeof callOf>[2] = {}) => callOf(double, outbound, more);
  const submit = (more: Partial<VideoWork> = {}) => adapter.submit(call(), workFor(double, more));
  const poll = (job: VendorJob) => adapter.poll(call(), job);
  async function taken(more: Partial<VideoWork> = {}): Promise<{ job: VendorJob; at: DoubleJob }> {
    const submission = await submit(more);
    if (submission.kind !== 'accepted') throw new Error(JSON.stringify(submission));
    return { job: submission.job, at: double.jobs.at(-1) as DoubleJob };
  }

  describe('submitting', () => {
    test('the job is taken once, with what was asked for, and its reference kept as JSON', async () => {
      const { job, at } = await taken({ prompt: 'Ein Fuchs "läuft" 雪', seconds: 10 });
      expect(at).toMatchObject({ reference: job.reference, model: wire.model, seconds: 10 });
      expect(JSON.parse(JSON.stringify(job))).toEqual(job);
      expect(JSON.stringify(at.submitted.body)).toContain('Ein Fuchs \\"läuft\\" 雪');
      expect([double.count('submit'), double.jobs.length]).toEqual([1, 1]);
    });

    const down = ['refused', 'VENDOR_DOWN', 'counts'] as const;
    const auth = ['refused', 'VENDOR_AUTH_ERROR', 'opens'] as const;
    const busy = ['refused', 'RATE_LIMIT_VENDOR', 'waits'] as const;
    const unknown = ['unknown', undefined, 'counts'] as const;
    test.each<[string, Fault, readonly [string, string | undefined, string]]>([
      ['fails by its own account', { refusal: 'down' }, down],
      ['is too busy', { refusal: 'busy' }, busy],
      ['has too many of ours', { refusal: 'concurrency' }, busy],
      ['does not know the key', { refusal: 'auth' }, auth],
      ['forbids it', { refusal: 'forbidden' }, auth],
      ['wants to be paid first', { refusal: 'funds' }, auth],
      ['refuses the content', { refusal: 'content' }, ['refused', 'CONTENT_REFUSED', 'none']],
      ['refuses a field', { refusal: 'invalid' }, ['refused', 'VALIDATION_FAILED', 'none']],
      ['takes it and the answer is lost', 'lost', unknown],
      ['closes the connection', 'reset', unknown],
      ['is hidden behind a 500 of a proxy', { proxy: 500 }, unknown],
      ['is hidden behind a 502', { proxy: 502 }, unknown],
      ['is hidden behind a 503 of a proxy', { proxy: 503 }, unknown],
      ['is hidden behind a 504', { proxy: 504 }, unknown],
      ['is hidden behind a 524', { proxy: 524 }, unknown],
      ['accepts with a page', 'html', unknown],
      ['accepts with rubbish', 'rubbish', unknown],
      ['accepts without end', 'endless', unknown],
    ])('a vendor that %s is judged by the table, asked once', async (_, fault, [kind, reason, breaker]) => {
      double.script('submit', fault);
      const submission = await submit();
      expect(submission).toMatchObject({ kind, breaker: { kind: breaker } });
      expect('reason' in submission ? submission.reason : undefined).toBe(reason);
      expect(double.count('submit')).toBe(1);
      expect(JSON.stringify(submission)).not.toContain(double.key);
    });

    test('a vendor that says nothing leaves it open; one that cannot be reached, certain', async () => {
      double.script('submit', 'silent');
      const short = call({ timeouts: { submitMs: 100 } });
      expect(await adapter.submit(short, workFor(double))).toMatchObject({
        kind: 'unknown',
        breaker: { kind: 'counts' },
      });
      await double.close();
      const later = await submit();
      expect(later).toMatchObject({ kind: 'refused', reason: 'VENDOR_DOWN', breaker: { kind: 'counts' } });
    });

    test('what the vendor asks to wait is told', async () => {
      double.script('submit', { refusal: 'busy', retryAfterS: 17 });
      expect(await submit()).toMatchObject({ breaker: { kind: 'waits', ms: 17_000 } });
    });

    test("only the caller's own mistakes are told in the vendor's words", async () => {
      double.script('submit', { refusal: 'invalid' }, { refusal: 'content' }, { refusal: 'funds' });
      expect(await submit()).toMatchObject({ message: expect.stringContaining('The duration is not one') });
      expect(await submit()).toMatchObject({ message: expect.stringContaining('safety system') });
      expect(await submit()).toMatchObject({ message: "The vendor refuses the operator's account." });
    });

    test('a process that stops before sending gives the attempt back', async () => {
      const controller = new AbortController();
      controller.abort();
      expect(await adapter.submit(call({ signal: controller.signal }), workFor(double))).toEqual({ kind: 'not_sent' });
      expect(double.calls).toEqual([]);
    });

    test('a wrong key reaches nothing', async () => {
      expect(await adapter.submit(call({ key: 'wrong' }), workFor(double))).toMatchObject({
        reason: 'VENDOR_AUTH_ERROR',
      });
      expect(double.jobs).toEqual([]);
    });
  });

  describe('polling', () => {
    test('queued, running, succeeded, and the film by its bytes', async () => {
      const { job, at } = await taken();
      expect(await poll(job)).toMatchObject({ kind: 'queued', warning: null });
      Object.assign(at, { state: 'running', started: true, progressPct: 40 });
      expect(await poll(job)).toMatchObject({ kind: 'running', warning: null });
      at.state = 'succeeded';
      const done = await poll(job);
      if (done.kind !== 'succeeded') throw new Error(done.kind);
      expect(['quote', at.seconds]).toContain(typeof done.bill === 'object' ? done.bill.seconds : done.bill);
      const film = await adapter.download(call(), done.filmUrl);
      if (film.kind !== 'opened') throw new Error(film.message);
      expect(film.contentType).toBe('video/mp4');
      expect(Buffer.byteLength(await text(film.body.setEncoding('latin1')), 'latin1')).toBe(film.sizeBytes);
      // Polls repeated, and after a restart, say the same.
      expect(await poll(JSON.parse(JSON.stringify(job)))).toEqual(done);
      expect(double.assetCalls.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    });

    test('refused content, other failures, cancelled, expired', async () => {
      const { job, at } = await taken();
      Object.assign(at, { state: 'failed', failure: 'content', started: true });
      expect(await poll(job)).toMatchObject({ kind: 'failed', code: 'CONTENT_REFUSED', bill: 'nothing' });
      at.failure = 'other';
      expect(await poll(job)).toMatchObject({ kind: 'failed', code: 'VENDOR_ERROR', bill: 'nothing' });
      Object.assign(at, { state: 'cancelled', started: false });
      expect(await poll(job)).toEqual({ kind: 'cancelled', bill: 'nothing' });
      at.state = 'expired';
      expect(await poll(job)).toMatchObject({ kind: 'expired' });
    });

    test.each(['daydreaming', 'RUNNING', 'Processing'])('the status word %s means that it runs', async (word) => {
      const { job, at } = await taken();
      at.word = word;
      const warning = word === 'daydreaming' ? expect.stringContaining('daydreaming') : null;
      expect(await poll(job)).toMatchObject({ kind: 'running', warning });
    });

    test('a job that the vendor has purged, or never had, is gone', async () => {
      const { job, at } = await taken();
      Object.assign(at, { state: 'succeeded', purged: true });
      expect(await poll(job)).toEqual({ kind: 'gone' });
      double.jobs.length = 0;
      expect(await poll(job)).toEqual({ kind: 'gone' });
    });

    test.each<Fault>([
      'lost',
      'reset',
      'html',
      'rubbish',
      'endless',
      { proxy: 404 },
      { proxy: 502 },
      { refusal: 'down' },
      { refusal: 'auth' },
      { refusal: 'busy' },
    ])('an answer such as %j tells nothing of the job', async (fault) => {
      const { job } = await taken();
      double.script('poll', fault);
      expect(await poll(job)).toMatchObject({ kind: 'unanswered' });
      expect(await poll(job)).toMatchObject({ kind: 'queued' });
    });

    test('a vendor that says nothing is left in time', async () => {
      const { job } = await taken();
      double.script('poll', 'silent');
      const progress = await adapter.poll(call({ timeouts: { pollMs: 100 } }), job);
      expect(progress).toMatchObject({ kind: 'unanswered', breaker: { kind: 'counts' } });
    });
  });

  describe('cancelling', () => {
    test('a waiting job stops unbilled', async () => {
      const { job, at } = await taken();
      expect(await adapter.cancel(call(), job)).toEqual({ kind: 'stopped', bill: 'nothing' });
      expect([at.state, double.billedSeconds]).toEqual(['cancelled', 0]);
    });

    test('a running job stops, is told to, or cannot, as the vendor has it', async () => {
      const { job, at } = await taken();
      Object.assign(at, { state: 'running', started: true });
      const { kind } = await adapter.cancel(call(), job);
      const can = wire.stops({ ...at, state: 'running' });
      expect(kind === 'impossible').toBe(can === 'refused');
      expect(at.state).toBe(can === 'refused' ? 'running' : 'cancelled');
    });

    test('what is finished is neither stopped nor removed', async () => {
      const { job, at } = await taken();
      Object.assign(at, { state: 'succeeded', started: true });
      expect(await adapter.cancel(call(), job)).toEqual({ kind: 'impossible' });
      expect([at.state, at.purged]).toEqual(['succeeded', false]);
    });

    test('without an answer nothing is claimed', async () => {
      const { job } = await taken();
      double.script('cancel', { proxy: 502 });
      expect(await adapter.cancel(call(), job)).toMatchObject({ kind: 'unanswered' });
    });
  });

  test('removing the copy removes it, and again is fine', async () => {
    if (adapter.purge === undefined) return expect(['fal', 'replicate', 'dashscope']).toContain(name);
    const { job, at } = await taken();
    Object.assign(at, { state: 'succeeded', started: true });
    expect([await adapter.purge(call(), job), at.purged]).toEqual([true, true]);
    expect(await adapter.purge(call(), job)).toBe(true);
  });

  describe('callbacks', () => {
    const read = (more: {
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      readonly nowMs?: number;
    }) => adapter.readCallback?.(call(), { model: wire.model, options: wire.options, nowMs: Date.now(), ...more });

    test('ours is asked for where the vendor calls back, and only then', async () => {
      const { at } = await taken({ callbackUrl: CALLBACK_URL });
      expect(at.callbackUrl).toBe(adapter.readCallback === undefined ? null : CALLBACK_URL);
      expect((await taken()).at.callbackUrl).toBeNull();
    });

    test('an early one names the job whose answer was lost; repeated it says the same', async () => {
      if (adapter.readCallback === undefined) return expect(['openai-videos', 'dashscope']).toContain(name);
      double.script('submit', 'lost');
      expect(await submit({ callbackUrl: CALLBACK_URL })).toMatchObject({ kind: 'unknown' });
      const at = double.jobs[0] as DoubleJob;
      const reading = await read(double.callback(at));
      if (reading?.kind !== 'taken' || reading.job === null) throw new Error(JSON.stringify(reading));
      expect(reading.signed).toBe(name !== 'ark');
      expect(await read(double.callback(at))).toEqual(reading);
      Object.assign(at, { state: 'succeeded', started: true });
      expect(await poll(reading.job)).toMatchObject({ kind: 'succeeded' });
      expect(double.jobs).toHaveLength(1);
    });

    test('a forged one, an old one and a bare one are known as such where the vendor signs', async () => {
      if (!['fal', 'replicate'].includes(name))
        return expect(adapter.readCallback === undefined || name === 'ark').toBe(true);
      const { at } = await taken({ callbackUrl: CALLBACK_URL });
      expect(await read(double.callback(at, { forged: true }))).toMatchObject({ kind: 'forged' });
      expect(await read(double.callback(at, { atMs: Date.now() - 600_000 }))).toMatchObject({ kind: 'forged' });
      expect(await read({ headers: {}, body: Buffer.from('{}') })).toMatchObject({ kind: 'forged' });
      // What it is checked by is asked for once.
      expect(double.count('keys')).toBe(1);
    });

    test('while its key cannot be had, nothing is said of it', async () => {
      if (!['fal', 'replicate'].includes(name))
        return expect(adapter.readCallback === undefined || name === 'ark').toBe(true);
      const { at } = await taken({ callbackUrl: CALLBACK_URL });
      double.script('keys', { proxy: 502 }, 'html');
      expect(await read(double.callback(at))).toMatchObject({ kind: 'unanswered' });
      expect(await read(double.callback(at))).toMatchObject({ kind: 'unanswered' });
      expect(await read(double.callback(at))).toMatchObject({ kind: 'taken', signed: true });
    });
  });

  test('an attempt whose answer was lost is looked for where the vendor lists its jobs', async () => {
    if (adapter.find === undefined) return expect(name).not.toBe('replicate');
    expect(await adapter.find(call(), 'tok_0123456789abcdef')).toEqual({ kind: 'not_found' });
    double.script('submit', 'lost');
    await submit({ callbackUrl: CALLBACK_URL });
    await submit({ callbackUrl: `${CALLBACK_URL}-another` });
    const found = await adapter.find(call(), 'tok_0123456789abcdef');
    expect(found).toMatchObject({ kind: 'found', job: { reference: double.jobs[0]?.reference } });
    double.script('list', { proxy: 502 });
    expect(await adapter.find(call(), 'tok_0123456789abcdef')).toMatchObject({ kind: 'unanswered' });
    return undefined;
  });
});
