// `qm vendors test`: the smallest video that a row offers, really asked for, awaited and fetched, once.
import { expect, test } from 'vitest';
import { tryVideo } from '../../src/modules/video/vendors/try-out.ts';
import { describeAdapters } from '../support/vendors/describe-adapters.ts';
import { BYTES } from '../support/vendors/videos.ts';

describeAdapters((wire, there) => {
  const said: string[] = [];
  const tryOut = (signal?: AbortSignal) => {
    said.length = 0;
    const row = {
      id: wire.model,
      traits: { seconds: { min: 4, max: 9 }, resolutions: ['720p'] },
      options: wire.options,
    };
    const call = there().call(signal === undefined ? {} : { signal });
    return tryVideo(there().adapter, row as never, call, { say: (line) => said.push(line), pollEveryMs: 5 });
  };

  test('a video is made and fetched to its last byte, and asked for once', async () => {
    there().double.endsAfterPolls = 2;
    const { ok, message } = await tryOut();
    expect([ok, message]).toEqual([true, `it made a video: video/mp4, ${BYTES.length} bytes`]);
    expect(said[0]).toBe(`accepted as ${there().double.jobs[0]?.reference}: 4 s at 720p`);
    expect(there().double.count('submit')).toBe(1);
  });

  test('a key that is refused is told as that, without the key', async () => {
    there().double.script('submit', { refusal: 'auth' });
    const { ok, message } = await tryOut();
    expect(ok).toBe(false);
    expect(message).toMatch(/^VENDOR_AUTH_ERROR: /);
    expect(message).not.toContain(there().double.key);
  });

  test('a video that fails is no success', async () => {
    const trying = tryOut();
    await expect.poll(() => there().double.jobs.length).toBe(1);
    const [job] = there().double.jobs;
    if (job !== undefined) job.state = 'failed';
    expect(await trying).toMatchObject({ ok: false });
  });

  test('whoever stops waiting asks the vendor to stop', async () => {
    const stopping = new AbortController();
    const trying = tryOut(stopping.signal);
    await expect.poll(() => there().double.jobs[0]?.polls ?? 0).toBeGreaterThan(0);
    stopping.abort();
    expect((await trying).message).toMatch(/^it took too long; the vendor was asked to stop \(/);
  });
});
