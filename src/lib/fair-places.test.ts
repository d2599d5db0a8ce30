import { expect, test } from 'vitest';
import { FairPlaces } from './fair-places.ts';

test('one account gets half of the places, however often it asks', () => {
  const places = new FairPlaces(100);
  let taken = 0;
  for (let i = 0; i < 500; i += 1) taken += places.reserve('a', 1);
  expect(taken).toBe(50);
  expect(new FairPlaces(100).reserve('a', 1_000)).toBe(50);
});

test('accounts that take all they can still leave a place for each newcomer', () => {
  const places = new FairPlaces(512);
  const shares = Array.from({ length: 9 }, (_, n) => places.reserve(`hanging-${n}`, 10_000));
  expect(shares).toEqual([256, 128, 64, 32, 16, 8, 4, 2, 1]);
  expect(places.reserve('newcomer', 10)).toBe(1);
});

test('what is given back is there again', () => {
  const places = new FairPlaces(10);
  expect(places.reserve('a', 5)).toBe(5);
  expect(places.reserve('a', 1)).toBe(0);
  places.release('a', 2);
  expect(places.reserve('a', 9)).toBe(2);
  places.release('a', 5);
  expect(places.reserve('b', 9)).toBe(5);
});

test('all or nothing: what is beyond a share takes nothing', () => {
  const places = new FairPlaces(100);
  expect(places.take('a', 51)).toBe(false);
  expect(places.take('a', 50)).toBe(true);
  expect([places.take('a', 1), places.take('b', 26), places.take('b', 25)]).toEqual([false, false, true]);
  expect([places.taken, places.isGreedy('a'), places.isGreedy('b'), places.isGreedy('c')]).toEqual([
    75,
    true,
    true,
    false,
  ]);
  places.release('a', 50);
  places.release('b', 25);
  expect([places.taken, places.isGreedy('a')]).toEqual([0, false]);
});
