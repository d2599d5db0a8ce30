import { expect, test } from 'vitest';
import { atWallClock, inZone, wallClock } from './zone.ts';

test.each([
  ['UTC', '2026-11-24T00:00', '2026-11-24T00:00:00.000Z'],
  ['Europe/Berlin', '2026-07-01T00:00', '2026-06-30T22:00:00.000Z'],
  ['Europe/Berlin', '2026-11-24T15:00', '2026-11-24T14:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-24T05:30', '2026-11-24T00:00:00.000Z'],
  ['America/Los_Angeles', '2026-12-31T16:00', '2027-01-01T00:00:00.000Z'],
  // The hour before and the hour after clocks were changed.
  ['Europe/Berlin', '2026-03-29T01:00', '2026-03-29T00:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T01:00', '2026-10-24T23:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
])('in %s clocks show %s at %s', (zone, shown, instant) => {
  expect(wallClock(Date.parse(instant), zone)).toBe(shown);
  expect(atWallClock(shown, zone)).toBe(Date.parse(instant));
});

test('an hour that comes twice is the second one; one that is left out is told by the clock from before', () => {
  expect(atWallClock('2026-10-25T02:30', 'Europe/Berlin')).toBe(Date.parse('2026-10-25T01:30:00Z'));
  expect(atWallClock('2026-03-29T02:30', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T01:30:00Z'));
});

test.each(['', '2026-11-24', '2026-13-01T00:00', '2026-11-24T25:00', '2026-11-24T15:00Z', 'x'])(
  '%j is no time',
  (text) => {
    expect(atWallClock(text, 'UTC')).toBeNull();
  },
);

test('an instant is told with the name of its zone', () => {
  expect(inZone('2026-11-24T14:05:59.999Z', 'Europe/Berlin')).toBe('2026-11-24 15:05:59 GMT+1');
});
