import { expect, test } from 'vitest';
import { Waker } from './waker.ts';

async function takenMs(wait: Promise<void>): Promise<number> {
  const begunMs = performance.now();
  await wait;
  return performance.now() - begunMs;
}

test('a wait ends when woken, also by a wake before it', async () => {
  const waker = new Waker();
  const waiting = takenMs(waker.within(10_000));
  waker.wake();
  expect(await waiting).toBeLessThan(1_000);
  expect(await takenMs(waker.within(10_000))).toBeLessThan(1_000);
});

test('a forgotten wake does not count: the wait takes its time', async () => {
  const waker = new Waker();
  waker.wake();
  waker.forget();
  expect(await takenMs(waker.within(30))).toBeGreaterThanOrEqual(25);
});
