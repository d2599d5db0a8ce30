// The binary arrays that hot statements send are read by PostgreSQL as what they stand for.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  boolArray,
  byteaArray,
  int2Array,
  int4Array,
  int8Array,
  textArray,
  timestampArray,
} from '../../src/db/arrays.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('template0');
  db = new Database({ connection: database.connection });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const bytes = Buffer.from([0, 255, 7]);
test.each([
  [
    'bigint',
    int8Array([1n, null, -(2n ** 63n), 2n ** 63n - 1n]),
    ['1', null, '-9223372036854775808', '9223372036854775807'],
  ],
  ['int', int4Array([0, -1, null, 2 ** 31 - 1]), ['0', '-1', null, '2147483647']],
  ['smallint', int2Array([127, null]), ['127', null]],
  ['boolean', boolArray([true, false, null]), ['true', 'false', null]],
  ['text', textArray(['', 'a"b\\{},', 'żółć 🦊', null]), ['', 'a"b\\{},', 'żółć 🦊', null]],
  ['bytea', byteaArray([bytes, 'é', null, '']), ['\\x00ff07', '\\xc3a9', null, '\\x']],
  [
    'timestamptz',
    timestampArray([0, 1_795_250_096_789, null]),
    ['1970-01-01 00:00:00+00', '2026-11-21 08:34:56.789+00', null],
  ],
  ['text', textArray([Buffer.from('żółć'), 'a', null]), ['żółć', 'a', null]],
  ['text', textArray([]), []],
])('%s[]', async (type, sent, read) => {
  const text = `SELECT u.value::text AS value FROM unnest($1::${type}[]) WITH ORDINALITY u(value, n) ORDER BY u.n`;
  const { rows } = await db.query<{ value: string | null }>({ name: `arrays_${type}`, text }, [sent]);
  expect(rows.map((row) => row.value)).toEqual(read);
});
