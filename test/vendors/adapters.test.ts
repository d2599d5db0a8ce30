// One table for all adapters: each against a server that speaks the vendor's documented wire, for every way in which a vendor can
// answer, refuse and fail.
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { OutboundRequest } from '../../src/vendors/http/port.ts';
import { describeAdapters } from '../support/vendors/describe-adapters.ts';
import type { Fault } from '../support/vendors/double.ts';
import { workFor } from '../support/vendors/index.ts';
import { BYTES } from '../support/vendors/videos.ts';

describeAdapters((wire, there) => {
  describe('submitting', () => {
    test('the job is taken once, with what was asked for, and its reference kept as JSON', async () => {
      const { job, at } = await there().acceptedJob({ prompt: 'Ein Fuchs "läuft" 雪', seconds: 10 });
      expect(at).toMatchObject({ reference: job.reference, model: wire.model, seconds: 10 });
      expect(JSON.parse(JSON.stringify(job))).toEqual(job);
      expect(JSON.stringify(at.submitted.body)).toContain('Ein Fuchs \\"läuft\\" 雪');
      expect([there().double.count('submit'), there().double.jobs.length]).toEqual([1, 1]);
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
      there().double.script('submit', fault);
      const submission = await there().submit();
      expect(submission).toMatchObject({ kind, breaker: { kind: breaker } });
      expect('reason' in submission ? submission.reason : undefined).toBe(reason);
      expect(there().double.count('submit')).toBe(1);
      expect(JSON.stringify(submission)).not.toContain(there().double.key);
    });

    test('a vendor that says nothing leaves it open; one that cannot be reached, certain', async () => {
      there().double.script('submit', 'silent');
      const short = there().call({ timeouts: { submitMs: 100 } });
      expect(await there().adapter.submit(short, workFor(there().double))).toMatchObject({
        kind: 'unknown',
        breaker: { kind: 'counts' },
      });
      await there().double.close();
      const later = await there().submit();
      expect(later).toMatchObject({ kind: 'refused', reason: 'VENDOR_DOWN', breaker: { kind: 'counts' } });
    });

    test('a connection that fails is tried once more, and nothing else is', async () => {
      let sends = 0;
      const counting = {
        send: (request: OutboundRequest) =>
          there()
            .outbound.send(request)
            .finally(() => (sends += 1)),
      };
      there().double.script('submit', 'reset');
      expect(await there().adapter.submit(there().call({ outbound: counting }), workFor(there().double))).toMatchObject(
        { kind: 'unknown' },
      );
      expect(sends).toBe(1);
      await there().double.close();
      expect(await there().adapter.submit(there().call({ outbound: counting }), workFor(there().double))).toMatchObject(
        { kind: 'refused' },
      );
      expect(sends).toBe(3);
    });

    test('what the vendor asks to wait is told', async () => {
      there().double.script('submit', { refusal: 'busy', retryAfterS: 17 });
      expect(await there().submit()).toMatchObject({ breaker: { kind: 'waits', ms: 17_000 } });
    });

    test("only the caller's own mistakes are told in the vendor's words", async () => {
      there().double.script('submit', { refusal: 'invalid' }, { refusal: 'content' }, { refusal: 'funds' });
      expect(await there().submit()).toMatchObject({ message: expect.stringContaining('The duration is not one') });
      expect(await there().submit()).toMatchObject({ message: expect.stringContaining('safety system') });
      expect(await there().submit()).toMatchObject({ message: "The vendor refuses the operator's account." });
    });

    test('a process that stops before sending gives the attempt back', async () => {
      const controller = new AbortController();
      controller.abort();
      expect(
        await there().adapter.submit(there().call({ signal: controller.signal }), workFor(there().double)),
      ).toEqual({ kind: 'not_sent' });
      expect(there().double.calls).toEqual([]);
    });

    test('a wrong key reaches nothing', async () => {
      expect(await there().adapter.submit(there().call({ key: 'wrong' }), workFor(there().double))).toMatchObject({
        reason: 'VENDOR_AUTH_ERROR',
      });
      expect(there().double.jobs).toEqual([]);
    });
  });

  describe('polling', () => {
    test('queued, running, succeeded, and the video by its bytes', async () => {
      const { job, at } = await there().acceptedJob();
      expect(await there().poll(job)).toMatchObject({ kind: 'queued', warning: null });
      Object.assign(at, { state: 'running', started: true, progressPct: 40 });
      expect(await there().poll(job)).toMatchObject({ kind: 'running', warning: null });
      at.state = 'succeeded';
      const done = await there().poll(job);
      if (done.kind !== 'succeeded') throw new Error(done.kind);
      expect(['quote', at.seconds]).toContain(typeof done.bill === 'object' ? done.bill.units : done.bill);
      const video = await there().adapter.download(there().call(), done.videoUrl);
      if (video.kind !== 'opened') throw new Error(video.message);
      expect(video.contentType).toBe('video/mp4');
      expect((await buffer(video.body)).length).toBe(video.sizeBytes);
      // Polls repeated, and after a restart, say the same.
      expect(await there().poll(JSON.parse(JSON.stringify(job)))).toEqual(done);
      expect(there().double.assetCalls.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    });

    test('refused content, other failures, cancelled, expired', async () => {
      const { job, at } = await there().acceptedJob();
      Object.assign(at, { state: 'failed', failure: 'content', started: true });
      expect(await there().poll(job)).toMatchObject({ kind: 'failed', code: 'CONTENT_REFUSED', bill: 'nothing' });
      at.failure = 'other';
      expect(await there().poll(job)).toMatchObject({ kind: 'failed', code: 'VENDOR_ERROR', bill: 'nothing' });
      Object.assign(at, { state: 'cancelled', started: false });
      expect(await there().poll(job)).toEqual({ kind: 'cancelled', bill: 'nothing' });
      at.state = 'expired';
      expect(await there().poll(job)).toMatchObject({ kind: 'expired' });
    });

    test.each(['daydreaming', 'RUNNING', 'Processing'])('the status word %s means that it runs', async (word) => {
      const { job, at } = await there().acceptedJob();
      at.word = word;
      const warning = word === 'daydreaming' ? expect.stringContaining('daydreaming') : null;
      expect(await there().poll(job)).toMatchObject({ kind: 'running', warning });
    });

    test('a job that the vendor has purged, or never had, is gone', async () => {
      const { job, at } = await there().acceptedJob();
      Object.assign(at, { state: 'succeeded', purged: true });
      expect(await there().poll(job)).toEqual({ kind: 'gone' });
      there().double.jobs.length = 0;
      expect(await there().poll(job)).toEqual({ kind: 'gone' });
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
      const { job } = await there().acceptedJob();
      there().double.script('poll', fault);
      expect(await there().poll(job)).toMatchObject({ kind: 'unanswered' });
      expect(await there().poll(job)).toMatchObject({ kind: 'queued' });
    });

    test('a vendor that says nothing is left in time', async () => {
      const { job } = await there().acceptedJob();
      there().double.script('poll', 'silent');
      const progress = await there().adapter.poll(there().call({ timeouts: { pollMs: 100 } }), job);
      expect(progress).toMatchObject({ kind: 'unanswered', breaker: { kind: 'counts' } });
    });
  });

  describe('downloading', () => {
    async function finished() {
      const { job, at } = await there().acceptedJob();
      Object.assign(at, { state: 'succeeded', started: true });
      const done = await there().poll(job);
      if (done.kind !== 'succeeded') throw new Error(done.kind);
      return done.videoUrl;
    }

    test('a video that has moved is followed, and the key stays behind', async () => {
      there().double.video = 'redirect';
      const video = await there().adapter.download(there().call(), await finished());
      expect(video.kind === 'opened' ? await buffer(video.body) : video).toEqual(BYTES);
      expect(there().double.assetCalls.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    });

    test.each(['html', 'json', 'empty', 'huge'] as const)('%s is no video', async (behaviour) => {
      there().double.video = behaviour;
      expect(await there().adapter.download(there().call(), await finished())).toMatchObject({ kind: 'unsound' });
    });

    test('what is not there any more is asked for anew', async () => {
      there().double.video = 'forbidden';
      expect(await there().adapter.download(there().call(), await finished())).toMatchObject({ kind: 'gone' });
    });
  });

  describe('cancelling', () => {
    test('a waiting job stops unbilled, where the vendor can stop at all', async () => {
      const { job, at } = await there().acceptedJob();
      if (wire.label === 'openrouter')
        return expect(await there().adapter.cancel(there().call(), job)).toEqual({ kind: 'impossible' });
      expect(await there().adapter.cancel(there().call(), job)).toEqual({ kind: 'stopped', bill: 'nothing' });
      expect([at.state, there().double.billedSeconds]).toEqual(['cancelled', 0]);
    });

    test('a running job stops, is told to, or cannot, as the vendor has it', async () => {
      const { job, at } = await there().acceptedJob();
      Object.assign(at, { state: 'running', started: true });
      const { kind } = await there().adapter.cancel(there().call(), job);
      const can = wire.stops({ ...at, state: 'running' });
      expect(kind === 'impossible').toBe(can === 'refused');
      expect(at.state).toBe(can === 'refused' ? 'running' : 'cancelled');
    });

    test('what is finished is neither stopped nor removed', async () => {
      const { job, at } = await there().acceptedJob();
      Object.assign(at, { state: 'succeeded', started: true });
      expect(await there().adapter.cancel(there().call(), job)).toEqual({ kind: 'impossible' });
      expect([at.state, at.purged]).toEqual(['succeeded', false]);
    });

    test('without an answer nothing is claimed', async () => {
      if (wire.label === 'openrouter') return expect(wire.route('DELETE', '/videos/1')).toBeNull();
      const { job, at } = await there().acceptedJob();
      for (const fault of [
        { proxy: 502 },
        { proxy: 404 },
        'lost',
        { refusal: 'busy' },
        { refusal: 'funds' },
      ] as const) {
        there().double.forget();
        there().double.script('cancel', fault);
        at.state = 'queued';
        expect(await there().adapter.cancel(there().call(), job)).toMatchObject({ kind: 'unanswered' });
      }
    });
  });

  test('removing the copy removes it, and again is fine', async () => {
    const { purge } = there().adapter;
    if (purge === undefined) return expect(['fal', 'replicate', 'dashscope']).toContain(wire.name);
    const { job, at } = await there().acceptedJob();
    if (wire.label === 'openrouter') return expect(await purge(there().call(), job)).toBe(false);
    Object.assign(at, { state: 'succeeded', started: true });
    expect([await purge(there().call(), job), at.purged]).toEqual([true, true]);
    expect(await purge(there().call(), job)).toBe(true);
  });
});
