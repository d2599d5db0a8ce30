import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import Type from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { admission } from '../../core/admission.ts';
import type { Capability } from '../../kit/capability.ts';
import { compileEndpoint } from '../endpoint.ts';
import { BodyReaders } from './readers.ts';

/** The capability as a thread loads it: `end` ends the thread. */
const source = `data:text/javascript,${encodeURIComponent(`
  export const capability = {
    id: 'a.b', method: 'POST', path: '/v1/a/b', scope: 'write', price: 'free',
    input: { type: 'object', properties: { n: { type: 'number' }, pad: {}, end: {} }, required: ['n', 'pad'] },
    bulk: { reduce: ({ n, end }) => (end ? process.exit(7) : { value: { doubled: 2 * n }, transfer: [] }) },
  };
`)}`;
const input = Type.Object({ n: Type.Number(), pad: Type.Unknown(), end: Type.Optional(Type.Unknown()) });
const capability = { id: 'a.b', method: 'POST', path: '/v1/a/b', scope: 'write', price: 'free', input };
const bulk = { source, reduce: ({ n }: { n: number }) => ({ value: { doubled: 2 * n }, transfer: [] }) };
const endpoint = compileEndpoint('a', () => undefined, { ...capability, bulk } as unknown as Capability);

let readers = new BodyReaders();
afterEach(async () => {
  await readers.close();
  readers = new BodyReaders();
});

/** A task as a thread loads it. */
const taskSource = `data:text/javascript,${encodeURIComponent(`
  import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
  export const other = { id: 'other', run: () => 'other' };
  export const task = {
    id: 'task',
    run: (body) => {
      if (body.length === 100_001) throw new Error('broken');
      return [threadId, body.length, body.at(-1)];
    },
  };
`)}`;

function read(value: object, characters = 100_000, account = 'acct') {
  const text = JSON.stringify({ ...value, pad: 'x'.repeat(characters) });
  const bytes = new Uint8Array(Buffer.from(text));
  return readers.read(account, endpoint, [bytes], {
    prefix: '',
    sent: 'k',
    ignoresUnknown: true,
    isFingerprinted: false,
  });
}

describe('BodyReaders', () => {
  it('reads a long body as it reads a short one', async () => {
    for (const value of [
      { n: 3, idempotency_key: 'k' },
      { n: 3, other: 1 },
    ]) {
      const [short, long] = [await read(value, 1), await read(value)];
      expect({ ...long, fingerprint: '' }).toEqual({ ...short, fingerprint: '' });
      expect(long.input).toMatchObject({ doubled: 6 });
    }
    const [short, long] = [await read({ n: 'x' }, 1), await read({ n: 'x' })];
    expect(long.failure).toMatchObject({ code: 'VALIDATION_FAILED', param: 'n', message: short.failure?.message });
  });

  it('fails the body that a thread ends with, and no other', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) => read({ n, end: n % 4 === 1 }));
    const outcomes = await Promise.allSettled(bodies);
    const values = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.input.doubled : 'failed'));
    expect(values).toEqual([0, 'failed', 4, 6, 8, 'failed', 12, 14, 16, 'failed', 20, 22]);
  });

  it('does a task in a thread when its body is long', async () => {
    const { task } = (await import(taskSource)) as {
      task: { id: string; run(body: Buffer): [number, number, number] };
    };
    const run = (bytes: number) => readers.run('acct', { ...task, source: taskSource }, Buffer.alloc(bytes, 7));
    expect(run(1_000)).toEqual([threadId, 1_000, 7]);
    const long = (await run(100_000)) as [number, number, number];
    expect(long.slice(1)).toEqual([100_000, 7]);
    expect(long[0]).not.toBe(threadId);
    await expect(run(100_001)).rejects.toThrow('broken');
    const slow = { ...task, source: taskSource, hereBytesMax: 500 };
    expect(((await readers.run('acct', slow, Buffer.alloc(1_000, 7))) as number[])[0]).not.toBe(threadId);
  });

  it.runIf(process.platform === 'linux')(
    'lets calls go first: its threads are nicer, this one stays as it is',
    async () => {
      const own = getPriority();
      const how = `data:text/javascript,${encodeURIComponent(`
      import { getPriority } from 'node:os';
      export const task = { id: 'niceness', run: () => getPriority() };
    `)}`;
      const run = () => readers.run('acct', { id: 'niceness', source: how, run: () => own }, Buffer.alloc(100_000));
      expect([await run(), getPriority()]).toEqual([Math.max(own, 10), own]);
      await readers.close();
      readers = new BodyReaders({ bounds: { ...admission, all: { ...admission.all, bodyThreadNiceness: 0 } } });
      expect(await run()).toBe(own);
    },
  );

  it('ends a body that takes longer than its time, and reads the next one', async () => {
    const endless = `data:text/javascript,${encodeURIComponent(`
      export const task = { id: 'endless', run: (body) => { while (body[0] === 1); return 'read'; } };
    `)}`;
    // As important as the rest: on a busy machine nice threads may not come to their turn in time.
    const of = { bodyThreads: 2, bodyThreadMsMax: 4_000, bodyThreadNiceness: 0 };
    const bounds = { ...admission, all: { ...admission.all, ...of } };
    const bounded = new BodyReaders({ bounds });
    const run = (account: string, first: number) =>
      bounded.run(account, { id: 'endless', source: endless, run: () => 'here' }, Buffer.alloc(100_000, first));
    const held = Array.from({ length: 2 }, async () => run('much', 1));
    const refused = Promise.allSettled(held);
    expect(await run('little', 0)).toBe('read');
    expect(bounded.threads).toBe(2);
    for (const each of await refused)
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'VALIDATION_FAILED', detail: 'too_complex' } });
    expect(await run('much', 0)).toBe('read');
    await bounded.close();
  });

  it('lets accounts take turns, however many bodies one of them sends', async () => {
    // All threads have started: starting one takes as long as reading a hundred bodies.
    await Promise.all(['one', 'two', 'three'].map((account) => read({ n: 0 }, 100_000, account)));
    const ended: string[] = [];
    const send = async (account: string) => {
      await read({ n: 1 }, 100_000, account);
      ended.push(account);
    };
    await Promise.all([...Array.from({ length: 20 }, () => send('much')), send('little')]);
    expect(ended).toHaveLength(21);
    expect(ended.indexOf('little')).toBeLessThan(6);
  });

  it('refuses what one account sends beyond its share of what waits', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 520 }, () => read({ n: 1 }, 70_000)));
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ reason }) => reason.code))).toEqual(new Set(['CONCURRENCY_LIMITED']));
  });

  it('ends threads that have nothing to do, and starts them again', async () => {
    const shortLived = new BodyReaders({ idleMs: 20 });
    const bytes = () => new Uint8Array(Buffer.from(JSON.stringify({ n: 3, pad: 'x'.repeat(100_000) })));
    const once = async () => {
      const { input: reduced } = await shortLived.read('acct', endpoint, [bytes()], {
        prefix: '',
        sent: null,
        isFingerprinted: false,
        ignoresUnknown: true,
      });
      expect(reduced).toEqual({ doubled: 6 });
    };
    await once();
    await expect.poll(() => shortLived.threads).toBe(0);
    await once();
    await shortLived.close();
  });
});
