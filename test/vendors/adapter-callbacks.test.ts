// Calls that vendors make: whose they are, what they say of a job whose answer was lost, and how else such a job is found.
import { expect, test } from 'vitest';
import { CALLBACK_URL, describeAdapters } from '../support/vendors/describe-adapters.ts';
import type { DoubleJob } from '../support/vendors/wire.ts';

describeAdapters((wire, there) => {
  const read = (more: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
    readonly nowMs?: number;
  }) =>
    there().adapter.readCallback?.(there().call(), {
      model: wire.model,
      options: wire.options,
      nowMs: Date.now(),
      ...more,
    });

  test('ours is asked for where the vendor calls back, and only then', async () => {
    const { at } = await there().acceptedJob({ callbackUrl: CALLBACK_URL });
    expect(at.callbackUrl).toBe(there().adapter.readCallback === undefined ? null : CALLBACK_URL);
    expect((await there().acceptedJob()).at.callbackUrl).toBeNull();
  });

  test('an early one names the job whose answer was lost; repeated it says the same', async () => {
    if (there().adapter.readCallback === undefined) return expect(['openai-videos', 'dashscope']).toContain(wire.name);
    there().double.script('submit', 'lost');
    expect(await there().submit({ callbackUrl: CALLBACK_URL })).toMatchObject({ kind: 'unknown' });
    const at = there().double.jobs[0] as DoubleJob;
    const reading = await read(there().double.callback(at));
    if (reading?.kind !== 'taken' || reading.job === null) throw new Error(JSON.stringify(reading));
    expect(reading.signed).toBe(wire.name !== 'ark');
    expect(await read(there().double.callback(at))).toEqual(reading);
    Object.assign(at, { state: 'succeeded', started: true });
    expect(await there().poll(reading.job)).toMatchObject({ kind: 'succeeded' });
    expect(there().double.jobs).toHaveLength(1);
  });

  test('a forged one, an old one and a bare one are known as such where the vendor signs', async () => {
    if (!['fal', 'replicate'].includes(wire.name))
      return expect(there().adapter.readCallback === undefined || wire.name === 'ark').toBe(true);
    const { at } = await there().acceptedJob({ callbackUrl: CALLBACK_URL });
    expect(await read(there().double.callback(at, { forged: true }))).toMatchObject({ kind: 'forged' });
    expect(await read(there().double.callback(at, { atMs: Date.now() - 600_000 }))).toMatchObject({ kind: 'forged' });
    expect(await read({ headers: {}, body: Buffer.from('{}') })).toMatchObject({ kind: 'forged' });
    // What it is checked by is asked for once.
    expect(there().double.count('keys')).toBe(1);
  });

  test('while its key cannot be had, nothing is said of it', async () => {
    if (!['fal', 'replicate'].includes(wire.name))
      return expect(there().adapter.readCallback === undefined || wire.name === 'ark').toBe(true);
    const { at } = await there().acceptedJob({ callbackUrl: CALLBACK_URL });
    there().double.script('keys', { proxy: 502 }, 'html');
    expect(await read(there().double.callback(at))).toMatchObject({ kind: 'unanswered' });
    expect(await read(there().double.callback(at))).toMatchObject({ kind: 'unanswered' });
    expect(await read(there().double.callback(at))).toMatchObject({ kind: 'taken', signed: true });
  });

  test('an attempt whose answer was lost is looked for where the vendor lists its jobs', async () => {
    const { find } = there().adapter;
    if (find === undefined) return expect(wire.name).not.toBe('replicate');
    expect(await find(there().call(), 'tok_0123456789abcdef', {})).toEqual({ kind: 'not_found' });
    there().double.script('submit', 'lost');
    await there().submit({ callbackUrl: CALLBACK_URL });
    await there().submit({ callbackUrl: `${CALLBACK_URL}-another` });
    const found = await find(there().call(), 'tok_0123456789abcdef', {});
    expect(found).toMatchObject({ kind: 'found', job: { reference: there().double.jobs[0]?.reference } });
    there().double.script('list', { proxy: 502 });
    expect(await find(there().call(), 'tok_0123456789abcdef', {})).toMatchObject({ kind: 'unanswered' });
    return undefined;
  });
});
