import { expect, test } from 'vitest';
import { HEALTH, Places, placesTotal } from './places.ts';

const small = () => new Places({ unknown: 4, healthy: 8, failing: 4, slow: 2 });

test('pools are apart: full ones of failing and unknown receivers leave the healthy one alone', () => {
  const places = small();
  for (const account of ['a', 'b', 'c', 'd']) {
    places.take(HEALTH.failing, account);
    places.take(HEALTH.unknown, account);
  }
  expect([places.room(HEALTH.failing), places.room(HEALTH.unknown), places.room(HEALTH.healthy)]).toEqual([0, 0, 8]);
});

test('an account has a quarter of a pool at most, and at least one place', () => {
  const places = small();
  places.take(HEALTH.healthy, 'a');
  places.take(HEALTH.healthy, 'a');
  expect(places.roomOf(HEALTH.healthy, 'a')).toBe(0);
  expect(places.roomOf(HEALTH.healthy, 'b')).toBe(2);
  expect(places.roomOf(HEALTH.failing, 'a')).toBe(1);
});

test('a slow attempt frees its healthy place while there is room among the slow ones, and its own place at the end', () => {
  const places = small();
  const taken = ['a', 'b', 'c'].map((account) => places.take(HEALTH.healthy, account));
  expect(taken.map((place) => places.slow(place))).toEqual([true, true, false]);
  expect(places.room(HEALTH.healthy)).toBe(7);
  for (const place of taken) places.release(place);
  expect(places.usedPlaces().every(([, used]) => used === 0)).toBe(true);
  expect(places.slow(places.take(HEALTH.failing, 'a'))).toBe(false);
});

test('open sockets are bounded', () => {
  expect(placesTotal).toBeLessThanOrEqual(2_000);
});
