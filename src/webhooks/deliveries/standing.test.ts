import { expect, test } from 'vitest';
import { DAY_MS } from '../../lib/time.ts';
import { HEALTH } from '../turns/places.ts';
import { standingAfter } from './standing.ts';

const NOW = Date.UTC(2026, 10, 21);
const fresh = { failedAttempts: 0, failingSinceMs: null };

test('failures are counted from the last success on', () => {
  expect(standingAfter(fresh, ['failed', 'refused'], NOW)).toEqual({
    failedAttempts: 2,
    failingSinceMs: NOW,
    health: HEALTH.failing,
    disable: null,
  });
  expect(standingAfter({ failedAttempts: 4, failingSinceMs: NOW - 1 }, ['failed', 'succeeded'], NOW)).toEqual({
    failedAttempts: 0,
    failingSinceMs: null,
    health: HEALTH.healthy,
    disable: null,
  });
});

test('attempts that this process ended say nothing about the receiver', () => {
  const before = { failedAttempts: 3, failingSinceMs: NOW - 5 };
  expect(standingAfter(before, ['aborted'], NOW)).toEqual({ ...before, health: null, disable: null });
});

test.each([
  ['the tenth failure after five days', 9, 5 * DAY_MS, 'failing'],
  ['the ninth failure after five days', 8, 5 * DAY_MS, null],
  ['the tenth failure a moment before five days', 9, 5 * DAY_MS - 1, null],
])('%s disables: %s %s %s', (_name, failedAttempts, failingForMs, expected) => {
  const before = { failedAttempts, failingSinceMs: NOW - failingForMs };
  expect(standingAfter(before, ['failed'], NOW).disable).toBe(expected);
  expect(standingAfter(before, ['failed', 'succeeded'], NOW).disable).toBeNull();
});

test('410 disables at once, whatever came before', () => {
  expect(standingAfter(fresh, ['gone'], NOW).disable).toBe('gone');
});
