// Threads are ended at their bounds of memory, and the process goes on.
import { afterAll, expect, test } from 'vitest';
import { Threads } from './threads.ts';

const PATIENCE_MS = 15_000;
const bounds = { heapMb: 64, outsideHeapMb: 64 };
const threads = new Threads<string, string>(new URL('./threads.fixture.ts', import.meta.url), bounds);
afterAll(() => threads.close());

test.each(['list', 'map', 'outside'])('a thread that takes memory without end: %s', async (growth) => {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  expect(await threads.run(growth, signal)).toBeNull();
  expect(signal.aborted).toBe(false);
  expect(await threads.run('next', AbortSignal.timeout(PATIENCE_MS))).toBe('next');
});
