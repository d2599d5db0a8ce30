// Counts over weeks: random calls, between which the clock moves by milliseconds or by days, against the model.
import { expect, test } from 'vitest';
import { Tally } from '../../src/modules/risk/score/tally.ts';
import { KINDS, placeOf } from '../../src/modules/risk/signals/keys.ts';
import { Series } from '../../src/modules/risk/signals/series.ts';
import { countNames, countsOf } from '../../src/modules/risk/signals/signals.ts';
import { CountModel } from './model.ts';

const pausesMs = [0, 1, 900, 1_000, 59_999, 60_000, 61_000, 3_599_000, 86_400_000 / 3, 86_400_000 * 2];

/** A generator of numbers below `of`, the same in each run. */
function dice(seed: number) {
  let state = seed;
  return (of: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % of;
  };
}

test.each([1, 2, 3, 4])('a history of random calls counts as the model does (%i)', (seed) => {
  const roll = dice(seed);
  const model = new CountModel();
  const windows = new Map<string, { key: Buffer; series: Buffer; recent: Buffer }>();
  const pairs = new Map<string, { a: Buffer; b: Buffer; last_at: number }>();
  let nowMs = Date.UTC(2026, 0, 31, 23, 59, 59);
  for (let n = 0; n < 400; n += 1) {
    nowMs += pausesMs[roll(pausesMs.length)] as number;
    // A commit of a few calls: rows are read, calls are counted, rows are written.
    const tally = new Tally(
      [...windows.values()].map((row) => ({ account_id: 'acc', ...row })),
      [...pairs.values()].map((row) => ({ account_id: 'acc', ...row })),
    );
    for (let calls = 1 + roll(3); calls > 0; calls -= 1) {
      const sent = Object.fromEntries(
        KINDS.flatMap(({ field }) => (field === 'ip' || roll(3) > 0 ? [[field, String(roll(4))]] : [])),
      );
      const keys = KINDS.flatMap(({ field }, place) =>
        sent[field] === undefined ? [] : [Buffer.from([place + 1, Number(sent[field])])],
      );
      const series = tally.count('acc', keys, BigInt(n), nowMs);
      const expected = model.count(sent, nowMs);
      keys.forEach((key, i) => {
        const place = placeOf(key);
        const counts = countsOf(place, series[i] as Series, nowMs);
        const told = Object.fromEntries((countNames[place] ?? []).map((name, at) => [name, counts[at]]));
        expect(told, `step ${n}`).toEqual(expected[KINDS[place]?.kind as string]);
      });
    }
    for (const row of tally.windows()) windows.set(row.key.toString('hex'), row);
    for (const { a, b } of tally.pairs()) pairs.set(a.toString('hex') + b.toString('hex'), { a, b, last_at: nowMs });
  }
});

test('a key seen at every moment for 30 days stays one row of a few kilobytes', () => {
  const series = Series.empty();
  const startMs = Date.UTC(2026, 0, 1);
  for (let i = 0; i < 200_000; i += 1) for (const line of [0, 1, 2, 4]) series.add(line, startMs + i * 12_960);
  const bytes = series.encode();
  expect(bytes.length).toBeLessThan(8_192);
  const nowMs = startMs + 199_999 * 12_960;
  const read = Series.decode(bytes);
  for (let window = 0; window < 5; window += 1) {
    expect(read.total(0, window, nowMs)).toBe(series.total(0, window, nowMs));
  }
});
