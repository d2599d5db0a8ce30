// Work that does not end is ended, and leaves threads for the work of others.
import { afterEach, expect, test } from 'vitest';
import { admission } from '../admission.ts';
import type { ScanTask } from './block.ts';
import { echo, endless } from './threads.fixture.ts';
import { BlockThreads } from './threads.ts';

let threads: BlockThreads;
afterEach(() => threads.close());

function run<Args>(accountId: string, task: ScanTask<Args, unknown>, args: Args, signal: AbortSignal, msMax?: number) {
  const prepare = async () => ({ source: task.source, exportName: task.id, blocks: [], args });
  return threads.run(accountId, prepare, signal, msMax);
}

test('a thread is ended from outside when its time is over, and the next work gets another', async () => {
  threads = new BlockThreads(admission.all);
  const { signal } = new AbortController();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const refused = { code: 'VALIDATION_FAILED', param: 'query', detail: 'too_complex' };
  await expect(run('a', endless, begun, signal, 500)).rejects.toMatchObject(refused);
  expect(await run('a', echo, 'next', signal)).toBe('next');
});

test('no work has more time than all work has', async () => {
  threads = new BlockThreads({ ...admission.all, blockThreadMsMax: 500 });
  const { signal } = new AbortController();
  const begun = new Int32Array(new SharedArrayBuffer(4));
  await expect(run('a', endless, begun, signal, 60_000)).rejects.toMatchObject({ detail: 'too_complex' });
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
