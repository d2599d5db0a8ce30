import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { bucketsOf, seriesPeriod, usagePeriod } from './period.ts';

const NOW = Date.UTC(2026, 10, 21, 8, 30);
const at = (text: string) => Date.parse(text);

describe('the period of a sum', () => {
  test('is the calendar month without bounds', () => {
    expect(usagePeriod(null, null, NOW)).toEqual({ fromMs: at('2026-11-01'), toMs: at('2026-12-01') });
  });

  test('is widened to full hours', () => {
    const period = usagePeriod(at('2026-11-02T10:59:00Z'), at('2026-11-02T12:01:00Z'), NOW);
    expect(period).toEqual({ fromMs: at('2026-11-02T10:00:00Z'), toMs: at('2026-11-02T13:00:00Z') });
    expect(usagePeriod(at('2026-11-21'), null, NOW)).toEqual({
      fromMs: at('2026-11-21'),
      toMs: at('2026-11-21T09:00:00Z'),
    });
    expect(usagePeriod(null, at('2026-10-10'), NOW)).toEqual({ fromMs: at('2026-10-01'), toMs: at('2026-10-10') });
  });

  test('must not be empty', () => {
    expect(() => usagePeriod(NOW, NOW, NOW)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });
});

describe('the buckets of a series', () => {
  test('end with the running one', () => {
    const period = seriesPeriod('hour', null, null, NOW);
    const starts = bucketsOf('hour', period);
    expect([starts.length, starts.at(-1)]).toEqual([24, at('2026-11-21T08:00:00Z')]);
    expect(seriesPeriod('day', at('2026-11-20'), at('2027-01-01'), NOW).toMs).toBe(at('2026-11-22'));
    const future = seriesPeriod('day', at('2027-01-01'), null, NOW);
    expect([future.toMs, bucketsOf('day', future)]).toEqual([future.fromMs, []]);
    expect(bucketsOf('month', seriesPeriod('month', null, null, NOW))).toHaveLength(12);
  });

  test('exactly on a boundary the bucket that begins is the running one', () => {
    expect(seriesPeriod('hour', null, null, at('2026-11-21T08:00:00Z')).toMs).toBe(at('2026-11-21T09:00:00Z'));
  });

  test.each([
    ['hour', 744, HOUR_MS],
    ['day', 400, DAY_MS],
  ] as const)('by the %s they are at most %d', (granularity, most, stepMs) => {
    const end = at('2026-11-01');
    expect(bucketsOf(granularity, seriesPeriod(granularity, end - most * stepMs, end, NOW))).toHaveLength(most);
    expect(() => seriesPeriod(granularity, end - (most + 1) * stepMs, end, NOW)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED', param: 'from' }),
    );
  });

  test('by the month they are at most 60', () => {
    expect(bucketsOf('month', seriesPeriod('month', at('2021-11-01'), at('2026-11-01'), NOW))).toHaveLength(60);
    expect(() => seriesPeriod('month', at('2021-10-31'), at('2026-11-01'), NOW)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    );
  });
});
