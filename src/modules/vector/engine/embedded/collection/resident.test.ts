import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condition, LONG_TEXT, metadata } from '../../../../../../test/vector/engine-arbitraries.ts';
import { expectExact, type ReferenceRow } from '../../../../../../test/vector/engine-reference.ts';
import { type Condition, type Metric, metrics } from '../../port.ts';
import { Undecided } from '../filter/filter.ts';
import { ArenaPool } from '../memory/arena.ts';
import { Resident } from './resident.ts';

const pool = new ArenaPool(2 ** 26);
const DIMENSION = 5;
const vector = fc
  .array(fc.integer({ min: -3, max: 3 }), { minLength: DIMENSION, maxLength: DIMENSION })
  .map((values) => Float32Array.from(values.every((value) => value === 0) ? values.map(() => 1) : values));
const id = fc.integer({ min: 0, max: 60 }).map((n) => (n % 7 === 0 ? `ü${n}` : `id-${n}`));
const search = fc.record({
  kind: fc.constant('search' as const),
  vector,
  topK: fc.constantFrom(1, 3, 10, 1000),
  filter: fc.option(fc.array(condition, { maxLength: 3 })),
  exact: fc.boolean(),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('upsert' as const), id, vector, metadata }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), id }) },
  { weight: 3, arbitrary: search },
);
/** Rows that hold the same metadata, each `every` numbers. */
const range = {
  from: fc.nat({ max: 900 }),
  count: fc.integer({ min: 1, max: 900 }),
  every: fc.constantFrom(1, 1, 2, 7),
};
const largeStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('upsert' as const), ...range, vector, metadata }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), ...range }) },
  { weight: 4, arbitrary: search },
);
function* numbersOf({ from, count, every }: { from: number; count: number; every: number }): Generator<number> {
  for (let n = from; n < from + count; n += every) yield n;
}

const bytesOf = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
const refOf = (metric: Metric) => ({ accountId: 'a', collectionId: 'c', dimension: DIMENSION, metric, version: 1 });

describe.each(metrics)('a collection in memory (%s)', (metric) => {
  it('answers like the rows it was given, after whatever was written, overwritten and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 150 }), async (steps) => {
        const resident = new Resident(pool, refOf(metric));
        const rows = new Map<string, ReferenceRow>();
        let version = 0;
        for (const one of steps) {
          version += 1;
          if (one.kind === 'upsert') {
            resident.upsert({ id: one.id, version, embedding: bytesOf(one.vector), metadata: one.metadata });
            rows.set(one.id, { ...one, version });
          } else if (one.kind === 'remove') {
            resident.remove(one.id, version);
            rows.delete(one.id);
          } else expectExact(await resident.search(one), rows.values(), metric, one);
        }
        expect(resident.rows).toBe(rows.size);
        resident.dispose();
      }),
      { numRuns: 60 },
    );
  });

  it('answers like the rows it was given when many rows hold a value, or did', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(largeStep, { maxLength: 30 }), async (steps) => {
        const resident = new Resident(pool, refOf(metric));
        const rows = new Map<string, ReferenceRow>();
        let version = 0;
        for (const one of steps) {
          version += 1;
          if (one.kind === 'search') {
            expectExact(await resident.search(one), rows.values(), metric, one);
            continue;
          }
          for (const n of numbersOf(one)) {
            if (one.kind === 'remove') {
              resident.remove(`${n}`, version);
              rows.delete(`${n}`);
              continue;
            }
            // no two alike
            const values = one.vector.map((value, i) => value + ((n * (i + 3)) % 97) / 128);
            const row = { id: `${n}`, version, vector: values, metadata: one.metadata };
            resident.upsert({ ...row, embedding: bytesOf(values) });
            rows.set(row.id, row);
          }
        }
        resident.dispose();
      }),
      { numRuns: 25 },
    );
  });

  it.each([0.5, 0.05, 0.001])('finds every best row under a filter that %f of the rows pass', async (share) => {
    const resident = new Resident(pool, refOf(metric));
    const count = 6000;
    const random = (n: number) => ((Math.imul(n, 2_654_435_761) >>> 0) / 2 ** 32) * 2 - 1;
    const rows = Array.from({ length: count }, (_, i) => {
      const values = Float32Array.from({ length: DIMENSION }, (__, j) => random(i * DIMENSION + j + 1));
      return {
        id: `${i}`,
        version: i,
        vector: values,
        metadata: { chosen: i % Math.round(1 / share) === 0, sign: (values[0] as number) > 0 },
      };
    });
    for (const row of rows) resident.upsert({ ...row, embedding: bytesOf(row.vector) });
    const query = Float32Array.from([1, 0.2, 0, 0, 0]);
    const chosen: Condition = { key: 'chosen', op: 'eq', value: true };
    const others: Condition = { ...chosen, op: 'ne' };
    const against: Condition = { key: 'sign', op: 'eq', value: false };
    for (const filter of [[chosen], [others], [against], [against, chosen], [others, against]]) {
      const search = { vector: query, topK: 10, filter, exact: true };
      expectExact(await resident.search(search), rows, metric, search);
    }
    resident.dispose();
  });
});

describe('a collection in memory', () => {
  const unit = { version: 1, embedding: bytesOf(new Float32Array([1, 0, 0, 0, 0])) };
  const search = { vector: new Float32Array([1, 0, 0, 0, 0]), topK: 10, exact: true };

  it('keeps of a long text what equality needs, and says so when order needs the rest', async () => {
    const resident = new Resident(pool, refOf('cosine'));
    resident.upsert({ ...unit, id: 'one', metadata: { text: LONG_TEXT } });
    const ids = async (one: Condition) =>
      (await resident.search({ ...search, filter: [one] })).matches.map((match) => match.id);
    expect(await ids({ key: 'text', op: 'eq', value: LONG_TEXT })).toEqual(['one']);
    expect(await ids({ key: 'text', op: 'eq', value: `${LONG_TEXT} ` })).toEqual([]);
    expect(await ids({ key: 'text', op: 'gt', value: 'long' })).toEqual(['one']);
    expect(await ids({ key: 'text', op: 'gt', value: 'm'.repeat(100) })).toEqual([]);
    await expect(ids({ key: 'text', op: 'gt', value: LONG_TEXT.slice(0, 100) })).rejects.toThrow(Undecided);
    resident.dispose();
  });

  it('does not let an older deletion take a row that was written after it', async () => {
    const resident = new Resident(pool, refOf('cosine'));
    resident.upsert({ ...unit, id: 'one', version: 7, metadata: null });
    resident.remove('one', 6);
    expect(resident.rows).toBe(1);
    resident.dispose();
  });

  it('knows which rows hold a value after thousands of changes of it', async () => {
    const resident = new Resident(pool, refOf('cosine'));
    const rows = new Map<string, ReferenceRow>();
    let state = 1;
    const below = (limit: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    for (let version = 1; version <= 5000; version += 1) {
      const one = `row-${below(300)}`;
      if (below(4) === 0) {
        resident.remove(one, version);
        rows.delete(one);
      } else {
        const values = { color: ['red', 'green', 'blue'][below(3)], sizes: [below(3), below(3)], rare: below(100) };
        resident.upsert({ id: one, version, embedding: unit.embedding, metadata: values });
        rows.set(one, { id: one, version, vector: search.vector, metadata: values });
      }
      if (version % 250 !== 0) continue;
      for (const filter of [
        [{ key: 'color', op: 'eq', value: 'red' }],
        [{ key: 'color', op: 'ne', value: 'green' }],
        [{ key: 'sizes', op: 'eq', value: 1 }],
        [
          { key: 'rare', op: 'lt', value: 7 },
          { key: 'color', op: 'in', values: ['red', 'blue'] },
        ],
        [
          { key: 'rare', op: 'eq', value: 7 },
          { key: 'sizes', op: 'ne', value: 2 },
        ],
      ] satisfies Condition[][]) {
        const asked = { ...search, topK: 1000, filter };
        expectExact(await resident.search(asked), rows.values(), 'cosine', asked);
      }
    }
    resident.dispose();
  });

  it('takes less than 150 bytes a row beside vectors, with a value in each row that no other has', () => {
    const resident = new Resident(pool, refOf('cosine'));
    const count = 50_000;
    resident.expect(count);
    for (let i = 0; i < count; i += 1) resident.upsert({ ...unit, id: `row-${i}`, metadata: { n: `value ${i}` } });
    const vectorBytes = 16 + 32 + 64;
    expect(resident.bytes / count - vectorBytes).toBeLessThan(150);
    resident.dispose();
  });

  it('says when most of what it holds is gone', () => {
    const resident = new Resident(pool, refOf('cosine'));
    for (let i = 0; i < 4000; i += 1) resident.upsert({ ...unit, id: `${i}`, metadata: null });
    expect(resident.wasteful).toBe(false);
    for (let i = 0; i < 3900; i += 1) resident.remove(`${i}`, 2);
    expect(resident.wasteful).toBe(true);
    resident.dispose();
  });
});
