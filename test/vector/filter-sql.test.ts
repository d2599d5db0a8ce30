// Filters in SQL against filters in memory: the same vectors pass, whatever the metadata and whatever the filter.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textArray } from '../../src/db/arrays.ts';
import { Database } from '../../src/db/database.ts';
import type { Condition } from '../../src/modules/vector/engine/port.ts';
import { filterParameters, passesFilter } from '../../src/modules/vector/items/filter.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { passes } from './reference.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const passing = {
  name: 'test_filter_sql',
  text: `SELECT i.n::int AS n
           FROM (SELECT n, nullif(text, '')::jsonb AS metadata FROM unnest($4::text[]) WITH ORDINALITY u(text, n)) i
          WHERE ${passesFilter} ORDER BY i.n`,
};

const keys = ['a', 'b', 'constructor', '__proto__', 'ключ', ''];
const key = fc.constantFrom(...keys);
const text = fc.constantFrom('', 'a', 'b', 'B', 'ä', '10', '9', '\uffff', '\u{1f600}', '"', '\\', '{}', 'null');
const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 1.5, 10, 9, 2 ** 53, 1e300, -1e300, 5e-324, 0.1, 0.30000000000000004),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.constant({ x: 1 }),
  fc.constant([[1], { a: 'a' }]),
);
const metadata = fc.option(
  fc.array(fc.tuple(key, value), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs) as Record<string, unknown>),
);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ key, op: fc.constantFrom('eq', 'ne'), value: scalar }),
  fc.record({ key, op: fc.constant('in' as const), values: fc.array(scalar, { minLength: 1, maxLength: 12 }) }),
  fc.record({ key, op: fc.constantFrom('gt', 'gte', 'lt', 'lte'), value: fc.oneof(text, number) }),
  fc.record({ key, op: fc.constant('exists' as const), value: fc.boolean() }),
);

test('the same vectors pass in both', async () => {
  const stored = fc.array(metadata, { minLength: 1, maxLength: 30 });
  const filters = fc.array(condition, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(stored, filters, async (all, filter) => {
      // As the service stores it: -0 is 0.
      const texts = all.map((one) => (one === null ? '' : JSON.stringify(one)));
      const { rows } = await db.query<{ n: number }>(passing, [...filterParameters(filter), textArray(texts)]);
      const expected = texts.flatMap((one, i) => (passes(filter, one === '' ? {} : JSON.parse(one)) ? [i + 1] : []));
      expect(rows.map(({ n }) => n)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test.each(['force_custom_plan', 'force_generic_plan'])('the values of $in are hashed, by %s', async (mode) => {
  const values = Array.from({ length: 1_000 }, (_, i) => `value ${i}`);
  const filter: Condition[] = [
    { key: 'a', op: 'in', values },
    { key: 'b', op: 'in', values: [1] },
  ];
  const texts = textArray(['{"a": "value 7", "b": [0, 1]}', '{"a": [1], "b": 1}', '{"b": 1}', '']);
  await db.transaction(async (tx) => {
    await tx.query({ name: '', text: `SET LOCAL plan_cache_mode = ${mode}` }, []);
    const { rows } = await tx.query<{ 'QUERY PLAN': string }>(
      { name: `test_explain_${mode}`, text: `EXPLAIN ${passing.text}` },
      [...filterParameters(filter), texts],
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('hashed SubPlan');
    const found = await tx.query({ ...passing, name: `test_in_${mode}` }, [...filterParameters(filter), texts]);
    expect(found.rows).toEqual([{ n: 1 }]);
  });
});
