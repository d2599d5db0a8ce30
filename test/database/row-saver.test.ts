// A row that is sent in an effect and not waited for: its failure is the transaction's, and no promise is left that rejects unseen.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/db/database.ts';
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

it('fails the transaction that sent it, and nothing else', async () => {
  const unseen: unknown[] = [];
  const note = (reason: unknown) => unseen.push(reason);
  process.on('unhandledRejection', note);
  try {
    const failing = db.transaction(async (tx) => {
      savePreset(tx, { accountId: 'acct_1' }, { ...ROW, transform: 'no JSON' });
    });
    await expect(failing).rejects.toMatchObject({ code: '22P02' });
    // Rejections that nobody sees are told once the microtasks are done.
    await new Promise(setImmediate);
    expect(unseen).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
