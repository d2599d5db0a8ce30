// What is sent in an effect and not waited for: its failure is the transaction's, and no promise is left that rejects unseen.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { Database, type Transaction } from '../../src/db/database.ts';
import { savePreset } from '../../src/modules/image/links/presets.ts';
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

const ROW = { name: 'thumb', created_at: Date.now(), updated_at: Date.now() };

it.each([
  [
    'a row',
    '22P02',
    (tx: Transaction) => void savePreset(tx, { accountId: 'acct_1' }, { ...ROW, transform: 'no JSON' }),
  ],
  ['a turn', '22021', (tx: Transaction) => void openTurn(tx, 'acct_\0', 'notices', Date.now())],
])('%s that fails fails its transaction, and nothing else', async (_what, code, send) => {
  const unseen: unknown[] = [];
  const note = (reason: unknown) => unseen.push(reason);
  process.on('unhandledRejection', note);
  try {
    const failing = db.transaction(async (tx) => {
      send(tx);
    });
    await expect(failing).rejects.toMatchObject({ code });
    // Rejections that nobody sees are told once the microtasks are done.
    await new Promise(setImmediate);
    expect(unseen).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
