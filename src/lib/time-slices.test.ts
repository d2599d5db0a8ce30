import { expect, test } from 'vitest';
import { TimeSlices } from './time-slices.ts';

function busy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('two long works take turns, and the event loop turns in between', async () => {
  const slices = new TimeSlices();
  const order: string[] = [];
  let turns = 0;
  let isOver = false;
  const turning = () => {
    turns += 1;
    if (!isOver) setImmediate(turning);
  };
  setImmediate(turning);
  const work = async (name: string) => {
    for (let step = 0; step < 20; step += 1) {
      if (slices.isOver) await slices.next();
      busy(1.5);
      order.push(name);
    }
  };
  await Promise.all([work('a'), work('b')]);
  isOver = true;
  expect(order).toHaveLength(40);
  // Neither waits for the end of the other.
  expect(order.indexOf('b')).toBeLessThan(order.lastIndexOf('a'));
  expect(order.indexOf('a')).toBeLessThan(order.lastIndexOf('b'));
  expect(turns).toBeGreaterThan(5);
});
