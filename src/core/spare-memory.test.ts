import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MIB = 1024 * 1024;

const KEPT_BYTES_MAX = 64 * MIB;

/** In a process of its own: resident memory before a rush, after it, and after a look at once and `looks` more, each after a pause. */
function rush(looks: number): { before: number; full: number; after: number } {
  const source = new URL('./spare-memory.ts', import.meta.url);
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { spareMemorySweep } from '${fileURLToPath(source)}';
    const { run } = spareMemorySweep();
    const { signal } = new AbortController();
    // sleeps: the process has started
    await sleep(100);
    await run(signal);
    const before = process.memoryUsage.rss();
    let rows = Array.from({ length: 2_000_000 }, (_, i) => ({ i, text: 'x' + i }));
    const full = process.memoryUsage.rss();
    rows = null;
    await run(signal);
    // On a busy machine what the collector does by itself takes up the first pause.
    for (let looks = 0; looks < ${looks} && process.memoryUsage.rss() - before >= ${KEPT_BYTES_MAX}; looks += 1) {
      // sleeps: the collector works beside it
      await sleep(500);
      await run(signal);
    }
    console.log(JSON.stringify({ before, full, after: process.memoryUsage.rss() }));`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

test('an idle process gives back what a rush has left', () => {
  const { before, full, after } = rush(20);
  expect(full - before).toBeGreaterThan(100 * MIB);
  expect(after - before).toBeLessThan(KEPT_BYTES_MAX);
});

test('a process at work does not stop for that', () => {
  const { full, after } = rush(0);
  expect(after).toBeGreaterThan(full * 0.75);
});
