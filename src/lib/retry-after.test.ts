import { describe, expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('%s is %i ms', (value, expected) => {
    expect(retryAfterMs(value, nowMs)).toBe(expected);
  });

  test('a number of seconds beyond all measure stays a number', () => {
    expect(retryAfterMs('9'.repeat(40), nowMs)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each([
    null,
    '',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    '12 seconds',
    '2026-01-01T00:01:00Z',
    'Thu, 01 Jan 2026 00:01:00 CET',
    'Thu, 32 Jan 2026 00:01:00 GMT',
    'Thu, 01 Jan 2026 25:01:00 GMT',
    '9'.repeat(41),
    '٣',
  ])('%j says nothing', (value) => {
    expect(retryAfterMs(value, nowMs)).toBeNull();
  });
});
