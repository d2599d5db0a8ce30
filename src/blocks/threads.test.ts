// Work that does not end is ended, and leaves threads for the work of others.
import { afterEach, expect, test } from 'vitest';
import { admission } from '../core/admission.ts';
import { Problem } from '../problems/problem.ts';
import type { ScanTask } from './block.ts';
import { echo, endless } from './threads.fixture.ts';
import { BlockThreads, type ThreadTime } from './threads.ts';

let threads: BlockThreads;
afterEach(() => threads.close());

function run<Args>(
  accountId: string,
  task: ScanTask<Args, unknown>,
  args: Args,
  signal: AbortSignal,
  time?: ThreadTime,
) {
  const prepare = async () => ({ source: task.source, exportName: task.id, blocks: [], args });
  return threads.run(accountId, prepare, signal, time);
}

test('a thread is ended from outside when its time is over, and the next work gets another', async () => {
  threads = new BlockThreads(admission.all);
  const { signal } = new AbortController();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const late = new Error('The question takes too long.');
  await expect(run('a', endless, begun, signal, { msMax: 500, tooLate: () => late })).rejects.toBe(late);
  expect(await run('a', echo, 'next', signal)).toBe('next');
});

test('work that nobody asked for, such as a merge, fails with its name and time', async () => {
  threads = new BlockThreads(admission.all);
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const ended = run('a', endless, begun, new AbortController().signal, { msMax: 500 });
  await expect(ended).rejects.toThrow('endless: a thread took longer than 500 ms');
  await expect(ended).rejects.not.toBeInstanceOf(Problem);
});

test('no work has more time than all work has', async () => {
  threads = new BlockThreads({ ...admission.all, blockThreadMsMax: 500 });
  const { signal } = new AbortController();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  await expect(run('a', endless, begun, signal, { msMax: 60_000 })).rejects.toThrow('longer than 500 ms');
});

test.each([2, 3])(
  'of %i threads one is left for another account while one account asks for all',
  async (blockThreads) => {
    threads = new BlockThreads({ ...admission.all, blockThreads });
    const leaving = new AbortController();
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const held = Array.from({ length: 5 }, () => run('a', endless, begun, leaving.signal).catch(() => 'ended'));
    await expect.poll(() => Atomics.load(begun, 0), { timeout: 25_000 }).toBe(blockThreads - 1);
    expect(await run('b', echo, 'answered', new AbortController().signal)).toBe('answered');
    expect(Atomics.load(begun, 0)).toBe(blockThreads - 1);
    leaving.abort();
    expect(await Promise.all(held)).toEqual(Array(5).fill('ended'));
  },
);
