import { expect, test } from 'vitest';
import { FairSlots } from './fair-slots.ts';

test('one account gets half of the places, however often it asks', () => {
  const slots = new FairSlots(100);
  let taken = 0;
  for (let i = 0; i < 500; i += 1) taken += slots.reserve('a', 1);
  expect(taken).toBe(50);
  expect(new FairSlots(100).reserve('a', 1_000)).toBe(50);
});

test('accounts that take all they can still leave a place for each newcomer', () => {
  const slots = new FairSlots(512);
  const shares = Array.from({ length: 9 }, (_, n) => slots.reserve(`hanging-${n}`, 10_000));
  expect(shares).toEqual([256, 128, 64, 32, 16, 8, 4, 2, 1]);
  expect(slots.reserve('newcomer', 10)).toBe(1);
});

test('what is given back is there again', () => {
  const slots = new FairSlots(10);
  expect(slots.reserve('a', 5)).toBe(5);
  expect(slots.reserve('a', 1)).toBe(0);
  slots.release('a', 2);
  expect(slots.reserve('a', 9)).toBe(2);
  slots.release('a', 5);
  expect(slots.reserve('b', 9)).toBe(5);
});

test('all or nothing: what is beyond a share takes nothing', () => {
  const slots = new FairSlots(100);
  expect(slots.take('a', 51)).toBe(false);
  expect(slots.take('a', 50)).toBe(true);
  expect([slots.take('a', 1), slots.take('b', 26), slots.take('b', 25)]).toEqual([false, false, true]);
  expect([slots.taken, slots.isGreedy('a'), slots.isGreedy('b'), slots.isGreedy('c')]).toEqual([75, true, true, false]);
  slots.release('a', 50);
  slots.release('b', 25);
  expect([slots.taken, slots.isGreedy('a')]).toEqual([0, false]);
});
