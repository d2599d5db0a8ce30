// Turns of accounts in a kind of background work.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dueTurns, endTurn, openTurn } from '../../src/core/background/turns.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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

test('what is said to be due while a turn is served is not missed, whatever the claim has seen', async () => {
  const accountId = 'acct_1';
  const [nowMs, laterMs] = [await clockNow(db), (await clockNow(db)) + 3_600_000];
  const open = () => db.transaction((tx) => openTurn(tx, accountId, 'test.turns', nowMs));
  const due = async () => (await dueTurns(db, 'test.turns', 10)).map((turn) => turn.accountId);
  for (const nextMs of [null, laterMs]) {
    await open();
    const [turn] = await dueTurns(db, 'test.turns', 10);
    if (turn === undefined) throw new Error('no turn is due');
    await open();
    await endTurn(db, turn, 'test.turns', nextMs, nowMs);
    expect(await due()).toEqual([accountId]);
    const [next] = await dueTurns(db, 'test.turns', 10);
    await endTurn(db, next ?? turn, 'test.turns', nextMs, nowMs);
    expect(await due()).toEqual([]);
  }
});
