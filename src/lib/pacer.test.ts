import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Pacer } from './pacer.ts';

test('a slice has so many turns; who finds none gets one later, in the order of waiting, and who has left gets none', async () => {
  const turns = new Pacer(3);
  expect([turns.take(), turns.take(), turns.take(), turns.take()]).toEqual([true, true, true, false]);
  const went: number[] = [];
  const waiting = Array.from({ length: 7 }, (_, i) => () => void went.push(i));
  for (const goOn of waiting) turns.wait(goOn);
  turns.leave(waiting[1] as () => void);
  // Nobody is let past those that wait.
  expect(turns.take()).toBe(false);
  await expect.poll(() => went).toEqual([0, 2, 3, 4, 5, 6]);
  await expect.poll(() => turns.take()).toBe(true);
});

test('of 100 that come again and again, each gets as many turns as the others', async () => {
  const turns = new Pacer(10);
  const taken = Array.from({ length: 100 }, () => 0);
  const isOver = AbortSignal.timeout(300);
  const again = (i: number): void => {
    if (isOver.aborted) return;
    turns.wait(() => {
      taken[i] = (taken[i] as number) + 1;
      again(i);
    });
  };
  // Begins the slices.
  turns.take();
  for (const i of taken.keys()) again(i);
  while (!isOver.aborted) await sleep(20);
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(1);
  expect(Math.max(...taken)).toBeGreaterThan(0);
  // No more than ten in five milliseconds.
  expect(taken.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual((300 / 5 + 3) * 10);
});
