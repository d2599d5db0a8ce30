import fc from 'fast-check';
import { expect, it } from 'vitest';
import { condition, metadata } from '../../../../../../test/vector/engine-arbitraries.ts';
import { referencePasses } from '../../../../../../test/vector/engine-reference.ts';
import type { Condition } from '../../port.ts';
import { type Bitmap, bitmapFor, clearBit, hasBit, setBit } from './bitmap.ts';
import { resolveFilter } from './filter.ts';
import { Postings } from './postings.ts';
import { ValueBitmaps } from './value-bitmaps.ts';

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

const ROWS_MAX = 6000;
const numbers = Array.from({ length: ROWS_MAX }, (_, row) => row);
const range = {
  from: fc.nat({ max: ROWS_MAX }),
  count: fc.integer({ min: 1, max: 3000 }),
  every: fc.constantFrom(1, 1, 3, 20, 40, 80),
};

function* rowsOf({ from, count, every }: { from: number; count: number; every: number }): Generator<number> {
  for (let row = from; row < Math.min(ROWS_MAX, from + count); row += every) yield row;
}

/** The rows that hold one value, beside what is kept of them. */
class OneValue {
  readonly rows = new Set<number>();
  #size = 0;
  readonly bitmaps = new ValueBitmaps((_, bitmap) => {
    for (const row of this.rows) setBit(bitmap, row);
  });

  get bitmap(): Bitmap | undefined {
    return this.bitmaps.of(0);
  }

  add(row: number): void {
    if (this.rows.has(row)) return;
    this.rows.add(row);
    this.sizeUpTo(row + 1);
    this.bitmaps.add(0, row, this.rows.size, this.#size);
  }

  remove(row: number): void {
    if (this.rows.delete(row)) this.bitmaps.remove(0, row, this.rows.size);
  }

  sizeUpTo(size: number): void {
    this.#size = Math.max(this.#size, size);
  }
}

it('a bitmap names the rows that hold its value, in at most 12 bytes for each, whatever comes and goes', () => {
  const step = fc.record({ kind: fc.constantFrom('add' as const, 'add' as const, 'remove' as const), ...range });
  let made = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const value = new OneValue();
      for (const one of steps) {
        let beyond = 0;
        for (const row of rowsOf(one)) {
          value[one.kind](row);
          beyond = Math.max(beyond, value.bitmaps.bytes - value.rows.size * 12);
        }
        expect(beyond).toBeLessThanOrEqual(300);
        const { bitmap } = value;
        if (bitmap === undefined) continue;
        made += 1;
        expect(numbers.filter((row) => hasBit(bitmap, row) !== value.rows.has(row))).toEqual([]);
      }
    }),
    { numRuns: 100, examples: [[[{ kind: 'add', from: 0, count: 3000, every: 1 }]]] },
  );
  expect(made).toBeGreaterThan(0);
});

it('is made when one in 32 rows holds the value, is gone when not one in 64 does, and takes nothing then', () => {
  const value = new OneValue();
  value.sizeUpTo(32_000);
  for (let row = 0; row < 999; row += 1) value.add(row);
  expect(value.bitmap).toBeUndefined();
  value.add(999);
  expect(value.bitmap).toBeDefined();
  for (let row = 999; row >= 500; row -= 1) value.remove(row);
  expect(value.bitmap).toBeDefined();
  value.remove(499);
  expect(value.bitmap).toBeUndefined();
  expect(value.bitmaps.bytes).toBe(0);
  for (let row = 1000; row < 1501; row += 1) value.add(row);
  expect(value.bitmap).toBeDefined();
});

it('is not made for a value of few rows', () => {
  const value = new OneValue();
  for (let row = 0; row < 255; row += 1) value.add(row);
  expect(value.bitmap).toBeUndefined();
  value.add(255);
  expect(value.bitmap).toBeDefined();
});

it('is gone when a row far beyond comes to hold the value', () => {
  const value = new OneValue();
  for (let row = 0; row < 1000; row += 1) value.add(row);
  value.add(60_000);
  expect(value.bitmap).toBeDefined();
  value.add(1_000_000);
  expect(value.bitmap).toBeUndefined();
});

it('a filter passes the rows that it should, of values with a bitmap and without, while they change', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), ...range, metadata }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), ...range }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('filter' as const), filter: fc.array(condition, { maxLength: 3 }) }),
    },
  );
  const test = (key: string, op: 'eq' | 'ne', value: string): Condition => ({ key, op, value });
  // whatever is drawn: bitmaps that end at different rows, and one that is given up
  const example: Drawn<typeof step>[] = [
    { kind: 'write', from: 0, count: 3000, every: 1, metadata: { k: 'a' } },
    { kind: 'write', from: 3001, count: 2999, every: 1, metadata: { l: 'b' } },
    { kind: 'filter', filter: [test('l', 'eq', 'b'), test('k', 'eq', 'a')] },
    { kind: 'filter', filter: [test('l', 'eq', 'b'), test('k', 'ne', 'a')] },
    { kind: 'remove', from: 0, count: 2950, every: 1 },
    { kind: 'filter', filter: [test('k', 'eq', 'a')] },
  ];
  const seen = { made: 0, dropped: 0 };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const postings = new Postings();
      const alive = bitmapFor(ROWS_MAX);
      const rows = new Map<number, unknown>();
      let kept = new Set<number>();
      for (const one of steps) {
        if (one.kind === 'filter') {
          const size = Math.max(0, ...rows.keys()) + 1;
          const passed = resolveFilter(one.filter, postings, alive, size);
          const passes = (row: number) => rows.has(row) && referencePasses(one.filter, rows.get(row));
          expect(numbers.slice(0, size).filter((row) => hasBit(passed, row) !== passes(row))).toEqual([]);
          continue;
        }
        for (const row of rowsOf(one)) {
          if (rows.delete(row)) postings.clear(row);
          clearBit(alive, row);
          if (one.kind === 'remove') continue;
          rows.set(row, one.metadata);
          postings.add(row, one.metadata);
          setBit(alive, row);
        }
        const codes = Array.from({ length: postings.values.count }, (_, code) => code);
        const now = new Set(codes.filter((code) => postings.bitmapOf(code) !== undefined));
        seen.made += now.difference(kept).size;
        seen.dropped += kept.difference(now).size;
        kept = now;
      }
    }),
    { numRuns: 200, examples: [[example]] },
  );
  expect(seen.made).toBeGreaterThan(0);
  expect(seen.dropped).toBeGreaterThan(0);
});
