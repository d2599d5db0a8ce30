import { describe, expect, test } from 'vitest';
import { checkRecurrence, checkTimezone, dueSlot, nextSlot } from './schedule.ts';

const at = (text: string) => Date.parse(text);

function slots(cronExpr: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  for (let after = at(from); found.length < count; after = at(found.at(-1) as string)) {
    found.push(new Date(nextSlot({ cronExpr, timezone }, after) as number).toISOString());
  }
  return found;
}

describe('slots when clocks change in Berlin', () => {
  test.each([
    // 29 March 2026: 02:00-03:00 does not exist.
    ['30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['30 2,14 * * *', '2026-03-28T13:30:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-29T12:30:00.000Z']],
    ['*/30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-30T00:00:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['0 * * * *', '2026-03-29T00:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-29T02:00:00.000Z']],
    // 25 October 2026: 02:00-03:00 exists twice.
    ['30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    ['30 2,14 * * *', '2026-10-24T13:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-25T13:30:00.000Z']],
    ['*/30 2 * * *', '2026-10-25T00:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:00:00.000Z']],
    ['30 * * * *', '2026-10-25T00:20:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
  ])('%s after %s', (cronExpr, from, expected) => {
    expect(slots(cronExpr, 'Europe/Berlin', from, expected.length)).toEqual(expected);
  });

  test('a job of a quarter past every hour is an interval of an hour through both changes', () => {
    for (const [from, count] of [
      ['2026-03-28T20:00:00Z', 12],
      ['2026-10-24T20:00:00Z', 12],
    ] as const) {
      const found = slots('15 * * * *', 'Europe/Berlin', from, count).map(at);
      expect(found.slice(1).map((slot, i) => slot - (found[i] as number))).toEqual(Array(count - 1).fill(3_600_000));
    }
  });
});

describe('expressions', () => {
  test.each([
    ['0 9 * * MON-FRI', '0 9 * * MON-FRI'],
    ['  0\t9  * * 1-5\n', '0 9 * * 1-5'],
    ['*/15 8-18/2 1,15 * *', '*/15 8-18/2 1,15 * *'],
    ['0 0 L * *', '0 0 L * *'],
    ['0 0 29 2 *', '0 0 29 2 *'],
    ['0 9 * * MON#2', '0 9 * * MON#2'],
  ])('%j is taken', (sent, kept) => {
    expect(checkRecurrence(sent, 'UTC')).toEqual({ cronExpr: kept, timezone: 'UTC' });
  });

  test.each([
    ['0 0 30 2 *', 'never'],
    ['0 0 31 4,6,9,11 *', 'never'],
    ['* * * * * *', 'format'],
    ['* * * *', 'format'],
    ['@daily', 'format'],
    ['60 * * * *', 'format'],
    ['* 24 * * *', 'format'],
    ['* * 0 * *', 'format'],
    ['* * * 13 *', 'format'],
    ['* * * * 8', 'format'],
    ['5/5 * * * *', 'format'],
    ['*/0 * * * *', 'format'],
    ['10-5 * * * *', 'format'],
    ['? ? * * *', 'format'],
    ['0 0 1 1 +MON', 'format'],
    ['0 9 * * FUNDAY', 'format'],
    ['', 'format'],
    ['٣ * * * *', 'format'],
  ])('%j is refused', (sent, rule) => {
    expect(() => checkRecurrence(sent, 'UTC')).toThrowError(
      expect.objectContaining({ code: 'VALIDATION_FAILED', param: 'cron_expr', detail: rule }),
    );
  });

  test.each(['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])('%s is a time zone', (name) => {
    expect(() => checkTimezone(name)).not.toThrow();
  });

  test.each(['Nowhere/City', '+05:30', '-01:00', 'Local', '', 'UTC '])('%j is no time zone', (name) => {
    expect(() => checkRecurrence('0 9 * * *', name)).toThrowError(
      expect.objectContaining({ code: 'VALIDATION_FAILED', param: 'timezone', detail: 'timezone' }),
    );
  });
});

describe('due slots', () => {
  const hourly = { cronExpr: '0 * * * *', timezone: 'UTC' };

  test('a slot looked at in time is itself', () => {
    expect(dueSlot(hourly, at('2026-05-01T10:00:00Z'), at('2026-05-01T10:00:00.300Z'))).toEqual({
      slotMs: at('2026-05-01T10:00:00Z'),
      nextMs: at('2026-05-01T11:00:00Z'),
    });
  });

  test.each([
    ['2026-05-04T15:59:59.999Z', '2026-05-04T15:00:00Z', '2026-05-04T16:00:00Z'],
    ['2026-05-04T15:00:00.000Z', '2026-05-04T15:00:00Z', '2026-05-04T16:00:00Z'],
    ['2026-05-04T15:00:00.500Z', '2026-05-04T15:00:00Z', '2026-05-04T16:00:00Z'],
  ])('of those missed until %s the latest is due, once', (now, slot, next) => {
    expect(dueSlot(hourly, at('2026-05-01T10:00:00Z'), at(now))).toEqual({ slotMs: at(slot), nextMs: at(next) });
  });

  const everyZone = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'];
  const kinds = ['30 2 * * *', '*/30 2 * * *', '15 * * * *', '*/7 * * * *', '30 2,14 * * *', '59 1-3 * * *'];
  const changes = ['2026-03-07', '2026-03-28', '2026-04-04', '2026-10-03', '2026-10-24', '2026-10-31'];

  test.each(everyZone)(
    'the latest is the one that counting slot by slot ends at, around the clock changes in %s',
    (timezone) => {
      for (const cronExpr of kinds) {
        for (const [i, day] of changes.entries()) {
          const recurrence = { cronExpr, timezone };
          const earliest = nextSlot(recurrence, at(`${day}T00:00:00Z`)) as number;
          const now = earliest + 11 * 3_600_000 + i * 7_654_321;
          let latest = earliest;
          let next = nextSlot(recurrence, latest) as number;
          for (; next <= now; next = nextSlot(recurrence, latest) as number) latest = next;
          expect(dueSlot(recurrence, earliest, now), `${cronExpr} ${day}`).toEqual({ slotMs: latest, nextMs: next });
        }
      }
    },
  );
});
