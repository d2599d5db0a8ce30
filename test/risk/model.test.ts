// Counts over weeks: random calls, between which the clock moves by milliseconds or by days, against the model.
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { LINKED_KEYS } from '../../src/modules/risk/limits.ts';
import type { WindowRow } from '../../src/modules/risk/score/store.ts';
import { Tally } from '../../src/modules/risk/score/tally.ts';
import { countsOfKind } from '../../src/modules/risk/signals/facts.ts';
import { KEY_BYTES, KINDS } from '../../src/modules/risk/signals/keys.ts';
import { Series } from '../../src/modules/risk/signals/series.ts';
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

/** Counts calls as commits of a few do, rows read and written in between, and holds each against the model. */
class History {
  readonly #model = new CountModel();
  readonly #rows = new Map<string, WindowRow>();

  /** `calls`: numbers of the keys by field. */
  commit(calls: readonly Record<string, number>[], nowMs: number): void {
    const tally = new Tally([...this.#rows.values()].map((row) => ({ ...row, partners: Buffer.from(row.partners) })));
    for (const sent of calls) {
      const keys = KINDS.flatMap(({ field }, i) => (sent[field] === undefined ? [] : [keyOf(i + 1, sent[field])]));
      const series = tally.count('acc', keys, 1n, nowMs);
      const texts = Object.fromEntries(Object.entries(sent).map(([field, number]) => [field, String(number)]));
      const expected = this.#model.count(texts, nowMs);
      for (const [kind, of] of series) {
        const counts = countsOfKind.get(kind) ?? [];
        const told = counts.map(({ name, line, window }) => [name, of.total(line, window, nowMs)]);
        expect(Object.fromEntries(told)).toEqual(expected[kind]);
      }
    }
    for (const row of tally.changedWindows()) {
      const id = row.key.toString('hex');
      // As upsertWindows keeps those that did not change.
      const partners = row.partners.length > 0 ? row.partners : (this.#rows.get(id)?.partners ?? row.partners);
      this.#rows.set(id, { ...row, partners });
    }
  }

  /** Of the partners in each row. */
  bytes(): number[] {
    return [...this.#rows.values()].map(({ partners }) => partners.length);
  }
}

function keyOf(kindByte: number, number: number): Buffer {
  const key = hash('sha256', String(number), 'buffer').subarray(0, KEY_BYTES);
  key[0] = kindByte;
  return key;
}

test.each([1, 2, 3, 4])('a history of random calls counts as the model does (%i)', (seed) => {
  const roll = dice(seed);
  const history = new History();
  let nowMs = Date.UTC(2026, 0, 31, 23, 59, 59);
  for (let n = 0; n < 400; n += 1) {
    nowMs += pausesMs[roll(pausesMs.length)] as number;
    const calls = Array.from({ length: 1 + roll(3) }, () =>
      Object.fromEntries(KINDS.flatMap(({ field }) => (field === 'ip' || roll(3) > 0 ? [[field, roll(4)]] : []))),
    );
    history.commit(calls, nowMs);
  }
});

test('two keys that have many partners each count one another once, and one of their rows keeps it', () => {
  const history = new History();
  let nowMs = Date.UTC(2026, 0, 1);
  for (let n = 1; n <= LINKED_KEYS + 2; n += 1) {
    nowMs += 1_000;
    history.commit(
      [
        { ip: 0, device_id: n },
        { ip: n, device_id: 0 },
      ],
      nowMs,
    );
  }
  for (const pauseMs of [1_000, 1_000, 61_000, 3_600_000, 86_400_000, 40 * 86_400_000, 1_000]) {
    nowMs += pauseMs;
    history.commit([{ ip: 0, device_id: 0 }], nowMs);
    const entries = history.bytes().map((bytes) => bytes / (KEY_BYTES + 4));
    expect(Math.max(...entries)).toBeLessThanOrEqual(LINKED_KEYS + 1);
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
