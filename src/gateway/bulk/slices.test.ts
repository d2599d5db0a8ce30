import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Slices } from './slices.ts';

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('work beyond a slice waits, in order, and the event loop turns in between', async () => {
  const slices = new Slices();
  const done: number[] = [];
  const turns: number[] = [];
  let ended = false;
  const turning = (async () => {
    while (!ended) {
      await turn();
      turns.push(done.length);
    }
  })();
  const results = Array.from({ length: 40 }, (_, i) =>
    slices.run(() => {
      busy(0.2);
      done.push(i);
      return i;
    }),
  );
  expect(done.length).toBeGreaterThan(0);
  expect(done.length).toBeLessThan(10);
  expect(await Promise.all(results)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  ended = true;
  await turning;
  expect(done).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(new Set(turns).size).toBeGreaterThan(5);
});

test('what little there is is done at once, turn by turn', async () => {
  const slices = new Slices();
  for (let i = 0; i < 100; i += 1) {
    expect(slices.run(() => i)).toBe(i);
    await turn();
    await turn();
  }
});

test('what fails fails for its caller alone', async () => {
  const slices = new Slices();
  expect(() =>
    slices.run(() => {
      throw new Error('at once');
    }),
  ).toThrow('at once');
  // Beyond the slice of this turn, or already in a later one.
  void slices.run(() => busy(1));
  const late = slices.run(() => {
    throw new Error('later');
  });
  const other = slices.run(() => 'done');
  await expect(late).rejects.toThrow('later');
  expect(await other).toBe('done');
});
