import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Vectors } from '../collection/vectors.ts';
import { CANDIDATES_AT, QUERY_INT16_AT } from '../kernel/kernel.ts';
import { ArenaPool } from '../memory/arena.ts';
import { prepareQuery, roundUp } from './quantize.ts';

const pool = new ArenaPool(2 ** 26);

interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

/** What the first pass says about one row. `digits`: by which factors of the query, in place of those chosen for the processor. */
function boundsOf(row: Float32Array, query: Float32Array, cosine: boolean, squared: boolean, digits?: 0 | 1): Bounds {
  const vectors = new Vectors(pool, row.length, cosine);
  vectors.write(vectors.add(1), new Uint8Array(row.buffer));
  const chunk = vectors.chunkOf(0);
  const { arena } = chunk;
  const chosen = arena.kernel.digits.value;
  arena.kernel.digits.value = digits ?? chosen;
  const { int16, scale, norm, slack } = prepareQuery(query, cosine);
  arena.int16.set(int16, QUERY_INT16_AT / 2);
  const mode = squared ? 1 : 0;
  const found = arena.kernel.scan(
    chunk.small,
    vectors.smallStride,
    0,
    0,
    1,
    QUERY_INT16_AT,
    scale,
    norm,
    slack,
    mode,
    -Number.MAX_VALUE,
    CANDIDATES_AT,
  );
  arena.kernel.digits.value = chosen;
  vectors.dispose();
  expect(found).toBe(1);
  const at = CANDIDATES_AT / 8;
  return { upper: arena.float64[at + 1] as number, lower: arena.float64[at + 2] as number };
}

const sum = (length: number, term: (i: number) => number) =>
  Array.from({ length }, (_, i) => term(i)).reduce((a, b) => a + b, 0);
const value = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.float({ min: -1, max: 1, noNaN: true }));
const pair = fc.integer({ min: 1, max: 70 }).chain((length) =>
  fc.tuple(
    fc.float32Array({ minLength: length, maxLength: length, noNaN: true, noDefaultInfinity: true }),
    fc.array(value, { minLength: length, maxLength: length }).map((values) => Float32Array.from(values)),
  ),
);

describe('the first pass', () => {
  it('never bounds a product, a cosine or a distance too tightly, whatever the values', () => {
    fc.assert(
      fc.property(pair, ([row, query]) => {
        const product = sum(row.length, (i) => (row[i] as number) * (query[i] as number));
        const rowSquares = sum(row.length, (i) => (row[i] as number) ** 2);
        const querySquares = sum(row.length, (i) => (query[i] as number) ** 2);
        const norms = Math.sqrt(rowSquares) * Math.sqrt(querySquares);
        const plain = boundsOf(row, query, false, false);
        const rounding = 1e-13 * norms;
        expect(plain.upper).toBeGreaterThanOrEqual(product - rounding);
        expect(plain.lower).toBeLessThanOrEqual(product + rounding);
        const distance = boundsOf(row, query, false, true);
        const key = 2 * product - rowSquares;
        expect(distance.upper).toBeGreaterThanOrEqual(key - 1e-13 * (norms + rowSquares));
        expect(distance.lower).toBeLessThanOrEqual(key + 1e-13 * (norms + rowSquares));
        if (norms === 0) return;
        const cosine = boundsOf(row, query, true, false);
        expect(cosine.upper).toBeGreaterThanOrEqual(product / norms - 1e-13);
        expect(cosine.lower).toBeLessThanOrEqual(product / norms + 1e-13);
      }),
      { numRuns: 500 },
    );
  });

  it('says the same of a row by the digits of a query as by its int16 values', () => {
    const largest = (sign: (i: number) => number) => Float32Array.from({ length: 4_096 }, (_, i) => sign(i));
    const extremes: [Float32Array, Float32Array][] = [
      [largest(() => 1), largest(() => 1)],
      [largest(() => 1), largest(() => -1)],
      [largest(() => -1), largest(() => -1)],
      [largest((i) => (i % 2 === 0 ? 1 : -1)), largest((i) => (i % 3 === 0 ? 1 : -1))],
      [largest(() => 1), largest((i) => (i === 7 ? 1 : 0))],
    ];
    const agree = ([row, query]: [Float32Array, Float32Array]) => {
      for (const [cosine, squared] of [
        [false, false],
        [false, true],
        [true, false],
      ] as const) {
        expect(boundsOf(row, query, cosine, squared, 1)).toEqual(boundsOf(row, query, cosine, squared, 0));
      }
    };
    for (const one of extremes) agree(one);
    fc.assert(fc.property(pair, agree), { numRuns: 500 });
  });

  it('bounds a cosine of ordinary vectors within 0.02', () => {
    const vector = (seed: number) => Float32Array.from({ length: 768 }, (_, i) => Math.sin(seed * 1000 + i * i));
    const { upper, lower } = boundsOf(vector(1), vector(2), true, false);
    expect(upper - lower).toBeLessThan(0.02);
  });
});

describe('roundUp', () => {
  it('answers the least f32 that is not below', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true }), (wanted) => {
        const rounded = roundUp(wanted);
        expect(rounded).toBeGreaterThanOrEqual(wanted);
        expect(Math.fround(rounded)).toBe(rounded);
      }),
    );
  });
});
