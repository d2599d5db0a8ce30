// A statement that gets no answer: its caller is told, and the connection is not used again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { toProblem } from '../../src/gateway/to-problem.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** It outlasts the test. */
const sleepLong = statement('test_sleep_long', `SELECT pg_sleep(120)`);
const whoAmI = statement('test_who_am_i', `SELECT pg_backend_pid() AS pid`);

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({
    connection: database.connection,
    connections: 1,
    hotConnections: 1,
    statementTimeoutMs: 300,
  });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const pidOf = async () => (await db.query<{ pid: number }>(whoAmI, [])).rows[0]?.pid;

test.each([
  ['alone', () => db.query(sleepLong, [])],
  ['in a transaction', () => db.transaction((tx) => tx.query(sleepLong, []))],
])('%s: 503 in time, and the next one gets another connection', async (_what, wait) => {
  const before = await pidOf();
  const failure = await wait().then(
    () => null,
    (error: unknown) => toProblem(error),
  );
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  expect(await pidOf()).not.toBe(before);
});
