// Statements as they go over the wire: described once a connection, sent in one go, failing alone.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase('template0');
  db = new Database({ connection: database.connection, connections: 1 });
  await db.query(statement('test_create', 'CREATE TABLE kept (n bigint, text text)'), []);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const echo = statement('test_echo', 'SELECT $1::bigint AS n, $2::text AS text, $3::bytea AS bytes');
const insert = statement('test_insert', 'INSERT INTO kept VALUES ($1, $2)');
const divide = statement('test_divide', 'SELECT 10 / $1::int AS n');

test('a statement answers the same columns the first time, in the same breath and later', async () => {
  const bytes = Buffer.alloc(100_000, 9);
  const expected = (n: number) => ({ rows: [{ n: BigInt(n), text: 'żółć 🦊', bytes }], count: 1 });
  const once = (n: number) => db.query(echo, [n, 'żółć 🦊', bytes]);
  expect(
    await db.transaction((tx) => Promise.all([0, 1, 2].map((n) => tx.query(echo, [n, 'żółć 🦊', bytes])))),
  ).toEqual([0, 1, 2].map(expected));
  for (const n of [3, 4]) expect(await once(n)).toEqual(expected(n));
  expect(await db.query(echo, [null, null, null])).toEqual({
    rows: [{ n: null, text: null, bytes: null }],
    count: 1,
  });
});

test('a statement without rows tells how many it wrote, each time', async () => {
  for (const n of [1, 2, 3]) expect(await db.query(insert, [n, 'x'])).toEqual({ rows: [], count: 1 });
  const counted = statement('test_count', 'SELECT count(*) AS n FROM kept WHERE n > $1');
  for (const above of [0, 2, 3]) expect((await db.query(counted, [above])).rows).toEqual([{ n: BigInt(3 - above) }]);
});

test('statements without a name are each their own', async () => {
  const values = (n: number) => Array.from({ length: n }, (_, i) => i);
  for (const n of [2, 1, 3, 2]) {
    const columns = values(n).map((i) => `$${i + 1}::int AS c${i}`);
    const { rows } = await db.query(statement('', `SELECT ${columns.join(', ')}`), values(n));
    expect(rows).toEqual([Object.fromEntries(values(n).map((i) => [`c${i}`, i]))]);
  }
});

test('a statement that fails, the first time or later, is itself again afterwards', async () => {
  for (const n of [0, 5, 0, 2]) {
    const asked = db.query(divide, [n]);
    if (n === 0) await expect(asked).rejects.toMatchObject({ code: '22012' });
    else expect((await asked).rows).toEqual([{ n: 10 / n }]);
  }
  const misspelt = statement('test_misspelt', 'SELEC 1');
  for (let i = 0; i < 2; i += 1) await expect(db.query(misspelt, [])).rejects.toMatchObject({ code: '42601' });
});

test('the first failure of a transaction is its reason, and undoes what was sent around it', async () => {
  const failing = db.transaction(async (tx) => {
    void tx.query(insert, [7, 'before']);
    void tx.query(divide, [0]).catch(() => undefined);
    void tx.query(insert, [8, 'behind']).catch(() => undefined);
  });
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  const kept = statement('test_kept', 'SELECT n FROM kept WHERE n > 3');
  expect((await db.query(kept, [])).rows).toEqual([]);
});
