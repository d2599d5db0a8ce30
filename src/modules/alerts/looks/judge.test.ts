import { describe, expect, test } from 'vitest';
import type { AlertSeries } from '../../../kit/alert-source.ts';
import { SERIES_MAX } from '../limits.ts';
import type { SeriesState } from '../rules/row.ts';
import { type Condition, judge } from './judge.ts';

const MINUTE = 60_000;
const above: Condition = { above: 5, below: null, forMs: 0, keepMs: 0, by: [], firesWhenThere: false };
const one = (value: number, labels: Record<string, string> = {}): AlertSeries => ({ labels, value });

/** The states after each look, a minute apart. */
function walk(condition: Condition, looks: readonly (readonly AlertSeries[])[]) {
  let series: readonly SeriesState[] = [];
  return looks.map((found, i) => {
    const judged = judge(series, found, condition, i * MINUTE);
    series = judged.series;
    return judged;
  });
}

describe('a rule of one value', () => {
  const rows: [string, Condition, number[], string[]][] = [
    ['fires above its bound and ends at it', above, [5, 6, 7, 5], ['ok', 'firing', 'firing', 'ok']],
    ['fires below its bound', { ...above, above: null, below: 1 }, [1, 0, 0, 2], ['ok', 'firing', 'firing', 'ok']],
    ['without a bound fires above 0', { ...above, above: null }, [0, 1, 0], ['ok', 'firing', 'ok']],
    [
      'is pending until it has held for its time',
      { ...above, forMs: 2 * MINUTE },
      [6, 6, 6, 4],
      ['pending', 'pending', 'firing', 'ok'],
    ],
    [
      'begins its time anew after a gap',
      { ...above, forMs: 2 * MINUTE },
      [6, 6, 4, 6, 6, 6],
      ['pending', 'pending', 'ok', 'pending', 'pending', 'firing'],
    ],
    ['fires on for its time', { ...above, keepMs: 2 * MINUTE }, [6, 4, 4, 4], ['firing', 'firing', 'firing', 'ok']],
    [
      'begins that time anew once it held again',
      { ...above, keepMs: 2 * MINUTE },
      [6, 4, 6, 4, 4, 4],
      ['firing', 'firing', 'firing', 'firing', 'firing', 'ok'],
    ],
    ['never holds for what is no number', above, [Number.NaN, 6, Number.NaN], ['ok', 'firing', 'ok']],
    ['holds for infinity', above, [Number.POSITIVE_INFINITY], ['firing']],
  ];
  test.each(rows)('%s', (_name, condition, values, wanted) => {
    expect(
      walk(
        condition,
        values.map((value) => [one(value)]),
      ).map(({ state }) => state),
    ).toEqual(wanted);
  });

  test('a series that is not there any more has ended', () => {
    const [, last] = walk({ ...above, above: null, firesWhenThere: true }, [[one(0, { job: 'a' })], []]);
    expect(last).toMatchObject({ state: 'ok', series: [] });
    expect(last?.changes).toEqual([{ labels: { job: 'a' }, before: 'firing', state: 'ok', value: null, told: false }]);
  });

  test('series that are gone fire on within the bound of a rule', () => {
    const condition = { ...above, keepMs: 60 * MINUTE };
    const of = (look: number) => Array.from({ length: SERIES_MAX }, (_, i) => one(6, { job: `${look}-${i}` }));
    const looks = walk(condition, [of(0).slice(0, 1), [], of(1), of(2)]);
    expect(looks.map(({ series }) => series.length)).toEqual([1, 1, SERIES_MAX, SERIES_MAX]);
    expect(looks[1]).toMatchObject({ state: 'firing', changes: [], series: [{ labels: { job: '0-0' }, value: null }] });
  });

  test('a clock that goes back neither fires early nor ends what fires', () => {
    const pending = judge([], [one(6)], { ...above, forMs: MINUTE }, 10 * MINUTE);
    const back = judge(pending.series, [one(6)], { ...above, forMs: MINUTE }, MINUTE);
    expect(back.state).toBe('pending');
    expect(judge(back.series, [one(6)], { ...above, forMs: MINUTE }, 2 * MINUTE).state).toBe('firing');
    const firing = judge([], [one(6)], above, 10 * MINUTE);
    expect(judge(firing.series, [one(6)], above, MINUTE)).toMatchObject({ state: 'firing', changes: [] });
  });
});

describe('a rule by labels', () => {
  const by: Condition = { ...above, by: ['service'] };

  test('each value of a label fires and ends by itself', () => {
    const [first, second] = walk(by, [
      [one(9, { service: 'a', pod: '1' }), one(1, { service: 'b', pod: '2' })],
      [one(1, { service: 'a', pod: '1' }), one(9, { service: 'b', pod: '2' })],
    ]);
    expect(first?.changes).toMatchObject([{ labels: { service: 'a' }, before: 'ok', state: 'firing' }]);
    expect(second?.state).toBe('firing');
    expect(second?.changes).toMatchObject([
      { labels: { service: 'a' }, before: 'firing', state: 'ok' },
      { labels: { service: 'b' }, before: 'ok', state: 'firing' },
    ]);
  });

  test('of series with the same labels the worst decides', () => {
    const found = [one(1, { service: 'a', pod: '1' }), one(9, { service: 'a', pod: '2' })];
    expect(judge([], found, by, 0)).toMatchObject({ state: 'firing', value: 9 });
    expect(judge([], found, { ...by, above: null, below: 3 }, 0)).toMatchObject({ state: 'firing', value: 1 });
  });

  test('beyond a hundred series the number of the rest is told, and those that fire stay', () => {
    const many = (from: number) =>
      Array.from({ length: 150 }, (_, i) => one(i === 140 ? 9 : 1, { service: String(from + i).padStart(4, '0') }));
    const first = judge([], [one(9, { service: '9999' }), ...many(0)], by, 0);
    expect(first.series).toHaveLength(SERIES_MAX);
    expect(first.more).toBe(51);
    expect(first.changes.map(({ labels }) => labels.service).sort()).toEqual(['0140', '9999']);
    const kept = judge([], [one(9, { service: '9999' })], by, 0);
    const second = judge(kept.series, [one(9, { service: '9999' }), ...many(0)], by, MINUTE);
    expect(second.series[0]).toMatchObject({ labels: { service: '9999' }, state: 'firing' });
    expect(second.changes.map(({ labels }) => labels.service)).toEqual(['0140']);
  });
});
