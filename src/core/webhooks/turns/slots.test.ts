import { expect, test } from 'vitest';
import { HEALTH, Slots, slotsTotal } from './slots.ts';

const small = () => new Slots({ unknown: 4, healthy: 8, failing: 4, slow: 2 });

test('pools are apart: full ones of failing and unknown receivers leave the healthy one alone', () => {
  const slots = small();
  for (const account of ['a', 'b', 'c', 'd']) {
    slots.take(HEALTH.failing, account);
    slots.take(HEALTH.unknown, account);
  }
  expect([slots.room(HEALTH.failing), slots.room(HEALTH.unknown), slots.room(HEALTH.healthy)]).toEqual([0, 0, 8]);
});

test('an account has a quarter of a pool at most, and at least one place', () => {
  const slots = small();
  slots.take(HEALTH.healthy, 'a');
  slots.take(HEALTH.healthy, 'a');
  expect(slots.roomOf(HEALTH.healthy, 'a')).toBe(0);
  expect(slots.roomOf(HEALTH.healthy, 'b')).toBe(2);
  expect(slots.roomOf(HEALTH.failing, 'a')).toBe(1);
});

test('a slow attempt frees its healthy place while there is room among the slow ones, and its own place at the end', () => {
  const slots = small();
  const taken = ['a', 'b', 'c'].map((account) => slots.take(HEALTH.healthy, account));
  expect(taken.map((slot) => slots.slow(slot))).toEqual([true, true, false]);
  expect(slots.room(HEALTH.healthy)).toBe(7);
  for (const slot of taken) slots.release(slot);
  expect(slots.used().every(([, used]) => used === 0)).toBe(true);
  expect(slots.slow(slots.take(HEALTH.failing, 'a'))).toBe(false);
});

test('open sockets are bounded', () => {
  expect(slotsTotal).toBeLessThanOrEqual(2_000);
});
