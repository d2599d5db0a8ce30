// Partitions are there before they are needed; who misses one all the same makes it, without the locks of its transaction.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockWallets } from '../../src/core/wallet/lane/statements.ts';
import { textArray } from '../../src/db/arrays.ts';
import { Database, type Transaction } from '../../src/db/database.ts';
import { dropOldestPartition, makePartitionsAhead } from '../../src/db/partitions.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Account, openAccount } from '../wallet/harness.ts';

const NOW_MS = Date.UTC(2031, 10, 30, 23, 59);

let database: TestDatabase;
let db: Database;
let account: Account;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection });
  account = await openAccount(db);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const raw = (text: string) => ({ name: '', text });

async function partitionsOf(parent: string, like: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    raw(`SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::text::regclass ORDER BY 1`),
    [parent],
  );
  return rows.map(({ name }) => name).filter((name) => name.includes(like));
}

function insertEntry(tx: Transaction, seq: bigint) {
  return tx.query(
    raw(`INSERT INTO core.ledger (account_id, entry_seq, batch_id, kind, units, amount_nanos, balance_after_nanos, created_at)
         VALUES ($1, $2, 1, 'release', 0, 0, 0, core.clock_now())`),
    [account.accountId, seq],
  );
}

test('those of the running day or month and of the next two are made ahead, once', async () => {
  for (let again = 0; again < 2; again += 1) await makePartitionsAhead(db, NOW_MS);
  expect(await partitionsOf('core.ledger', '_203')).toEqual([
    'core.ledger_203111',
    'core.ledger_203112',
    'core.ledger_203201',
  ]);
  const days = ['20311130', '20311201', '20311202'];
  expect(await partitionsOf('errors.event', '_203')).toEqual(days.map((day) => `errors.event_${day}`));
  expect(await partitionsOf('errors.event_detail', '_203')).toEqual(days.map((day) => `errors.event_detail_${day}`));
});

test('two processes that make the same ones at once do not disturb each other', async () => {
  const other = new Database({ connection: database.connection });
  await Promise.all([db, other].map((of) => makePartitionsAhead(of, Date.UTC(2033, 4, 5))));
  await other.end();
  expect(await partitionsOf('core.ledger', '_2033')).toHaveLength(3);
});

test('a transaction that misses one makes it after it has let go of its wallet, and succeeds', async () => {
  const seq = sequenceAt(Date.UTC(2035, 6, 1));
  let tries = 0;
  let heldMeanwhile: unknown;
  await db.transaction(async (tx) => {
    tries += 1;
    if (tries === 2) {
      // Made in a transaction of its own, it is there for everyone before this one locks anything again.
      heldMeanwhile = await partitionsOf('core.ledger', '_203507');
    }
    await tx.query(lockWallets, [textArray([account.accountId])]);
    await insertEntry(tx, seq);
  });
  expect([tries, heldMeanwhile]).toEqual([2, ['core.ledger_203507']]);
});

test('the boundaries are those of the calendar in UTC, with no number between two months', async () => {
  const end = sequenceAt(Date.UTC(2037, 0, 1));
  await db.transaction(async (tx) => {
    await insertEntry(tx, end - 1n);
    await insertEntry(tx, end);
  });
  const { rows } = await db.query<{ place: string }>(
    // The part of a partition on a node has a number behind its name.
    raw(
      `SELECT substring(tableoid::regclass::text FROM '^[a-z.]+_[0-9]+') AS place FROM core.ledger WHERE entry_seq >= $1 ORDER BY entry_seq`,
    ),
    [end - 1n],
  );
  expect(rows.map(({ place }) => place)).toEqual(['core.ledger_203612', 'core.ledger_203701']);
});

test('a check that fails for another reason is reported as it is', async () => {
  const broken = db.transaction((tx) =>
    tx.query(raw('UPDATE core.wallet SET balance_nanos = -1 WHERE account_id = $1'), [account.accountId]),
  );
  await expect(broken).rejects.toMatchObject({
    code: '23514',
    message: expect.stringContaining('wallet_balance_nanos_check'),
  });
});

test('only what ended is dropped, the oldest of all parents together', async () => {
  const parents = ['errors.event', 'errors.event_detail'];
  const first = (await partitionsOf('errors.event', '')).length;
  await makePartitionsAhead(db, Date.UTC(2024, 0, 5));
  expect(await dropOldestPartition(db, parents, Date.UTC(2024, 0, 5))).toBe(false);
  expect(await dropOldestPartition(db, parents, Date.UTC(2024, 0, 7))).toBe(true);
  expect(await partitionsOf('errors.event', '_2024')).toEqual(['errors.event_20240106', 'errors.event_20240107']);
  expect(await partitionsOf('errors.event_detail', '_2024')).toHaveLength(2);
  expect(await partitionsOf('errors.event', '')).toHaveLength(first + 2);
});
