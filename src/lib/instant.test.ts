import { expect, test } from 'vitest';
import { parseInstant } from './instant.ts';

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1)],
  ['2026-11-01T12:00:00Z', Date.UTC(2026, 10, 1, 12)],
  ['2026-11-01T12:00:00.250+02:00', Date.UTC(2026, 10, 1, 10, 0, 0, 250)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['2026-02-29', null],
  ['2026-02-30T00:00:00Z', null],
  ['2026-13-01', null],
  ['2026-11-01T25:00:00Z', null],
  ['2026-11-01T12:00:00', null],
  ['2026-11-01 12:00:00Z', null],
  ['yesterday', null],
  ['', null],
])('%j', (text, ms) => {
  expect(parseInstant(text)).toBe(ms);
});
