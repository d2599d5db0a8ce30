// Months of the ledger go after LEDGER_DAYS, usage gets coarser; what is left goes on proving every figure.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usageFolding } from '../../src/core/usage/fold.ts';
import { usageSeries } from '../../src/core/usage/read.ts';
import { ledgerEntries } from '../../src/core/wallet/ledger/read.ts';
import type { Database } from '../../src/db/database.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/time.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { ledgerRetention } from '../../src/upkeep/ledger-retention.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from './clock.ts';
import { type Account, booksOf, call, codeOf, openAccount, openShop, rowEffect, type Shop } from './harness.ts';

const JANUARY = Date.UTC(2030, 0, 10);
const FEBRUARY = Date.UTC(2030, 1, 10);
const MAY = Date.UTC(2030, 4, 10);
const KEEP_DAYS = 60;
const all = { fromMs: null, toMs: null, capability: null, keyId: null };

let database: TestDatabase;
let shop: Shop;
let account: Account;

const sql = <R>(text: string, values: (string | Date)[] = []) => shop.db.query<R>({ name: '', text }, values);

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
  await setClock(shop.db, JANUARY);
  account = await openAccount(shop.db, 1_000_000n);
});
afterAll(async () => {
  await shop.end();
  await database.drop();
});

async function findings(of = account): Promise<string[]> {
  const { findings: found } = await examine({ db: shop.db, secrets: null, modules: [] });
  return found.filter(({ accountId }) => accountId === of.accountId).map(({ check }) => check);
}

async function runAll(keepDays: number): Promise<void> {
  const { run } = ledgerRetention(shop.db, keepDays);
  while (await run(new AbortController().signal)) {
    // a month at a time
  }
}

async function months(year = 2030): Promise<string[]> {
  const { rows } = await sql<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'core.ledger'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name).filter((name) => name.includes(`_${year}`));
}

test('a dropped month is folded into totals that go on proving wallet, grants and usage', async () => {
  const effect = rowEffect();
  const spend = async (times: number) => {
    for (let i = 0; i < times; i += 1) expect(codeOf(await shop.lanes.submit(call(account, { effect })))).toBe('done');
  };
  await spend(3);
  const held = await shop.holds.authorize(call(account, { holdMs: 400 * DAY_MS }));
  await setClock(shop.db, FEBRUARY);
  await spend(2);
  if (held.kind === 'held') await shop.holds.capture(account.accountId, held.hold.holdId, { capturedNanos: 5_000n });
  await setClock(shop.db, MAY);
  await spend(1);
  expect(await months()).toEqual(['core.ledger_203001', 'core.ledger_203002', 'core.ledger_203005']);
  expect(await findings()).toEqual([]);
  // Told to stop before it began: nothing is lost.
  await ledgerRetention(shop.db, KEEP_DAYS).run(AbortSignal.abort());
  expect(await months()).toHaveLength(3);
  await runAll(KEEP_DAYS);
  expect(await months()).toEqual(['core.ledger_203005']);
  expect(await findings()).toEqual([]);
  const { rows } = await sql<{ month: string; kind: string; entries: bigint; units: bigint; amount: bigint }>(
    `SELECT to_char(month, 'YYYY-MM') AS month, kind, entries, units, amount_nanos AS amount FROM core.ledger_total
      WHERE account_id = $1 ORDER BY month, kind`,
    [account.accountId],
  );
  expect(rows).toEqual([
    { month: '2030-01', kind: 'charge', entries: 3n, units: 3n, amount: -60_000n },
    { month: '2030-01', kind: 'grant', entries: 1n, units: 0n, amount: 1_000_000n },
    { month: '2030-01', kind: 'hold', entries: 1n, units: 0n, amount: 0n },
    { month: '2030-02', kind: 'capture', entries: 1n, units: 1n, amount: -5_000n },
    { month: '2030-02', kind: 'charge', entries: 2n, units: 2n, amount: -40_000n },
  ]);
  const entries = await ledgerEntries(shop.db, account.accountId, all, null, 10);
  expect(entries.map(({ kind }) => kind)).toEqual(['charge']);
  expect((await booksOf(shop.db, account.accountId)).balance).toBe(875_000n);
});

test('a total that is wrong by one nano-USD or one unit is found', async () => {
  const change = (what: string) =>
    sql(`UPDATE core.ledger_total SET ${what} WHERE account_id = $1 AND kind = 'capture'`, [account.accountId]);
  await change('amount_nanos = amount_nanos - 1');
  expect(await findings()).toEqual(['balance', 'usage']);
  await change('amount_nanos = amount_nanos + 1, units = units + 1');
  expect(await findings()).toEqual(['usage']);
  await change('units = units - 1');
  expect(await findings()).toEqual([]);
});

test('a month is kept whole until its last day is over, and nothing goes before', async () => {
  await setClock(shop.db, Date.UTC(2030, 5, 1) + KEEP_DAYS * DAY_MS - HOUR_MS);
  await runAll(KEEP_DAYS);
  expect(await months()).toEqual(['core.ledger_203005']);
  await setClock(shop.db, Date.UTC(2030, 5, 1) + KEEP_DAYS * DAY_MS);
  await runAll(KEEP_DAYS);
  expect(await months()).toEqual([]);
  expect(await findings()).toEqual([]);
});

test('old usage gets coarser and its sums stay: days for 400 days, months for ever', async () => {
  const other = await openAccount(shop.db);
  const nowMs = Date.UTC(2033, 0, 15, 12, 30);
  await setClock(shop.db, nowMs);
  await sql(
    `INSERT INTO core.usage_hour (account_id, hour, capability, key_id, request_count, error_count, units, spend_nanos)
     SELECT $1, h, c, 'key', 2, 1, 3, 1000 FROM generate_series($2::timestamptz, $3::timestamptz, interval '7 hours') h, (VALUES ('a'), ('b')) v(c)`,
    [other.accountId, new Date(nowMs - 900 * DAY_MS), new Date(nowMs)],
  );
  const series = async (granularity: 'hour' | 'day' | 'month', fromMs: number) =>
    (
      await usageSeries(
        shop.db,
        other.accountId,
        {
          granularity,
          groupBy: 'capability',
          period: { fromMs, toMs: Date.UTC(2033, 1, 1) },
          filter: { capability: null, keyId: null, consoleCalls: 'all' },
        },
        nowMs,
      )
    ).items;
  const looks = [
    ['hour', Date.UTC(2033, 0, 16) - 31 * DAY_MS],
    ['day', Date.UTC(2033, 0, 16) - 400 * DAY_MS],
    ['month', Date.UTC(2030, 0, 1)],
  ] as const;
  const before = await Promise.all(looks.map(([granularity, fromMs]) => series(granularity, fromMs)));
  const rowsBefore = Number(
    (await sql<{ n: bigint }>('SELECT count(*) AS n FROM core.usage_hour WHERE account_id = $1', [other.accountId]))
      .rows[0]?.n,
  );
  while (await usageFolding(shop.db).run(new AbortController().signal)) {
    // a bite at a time
  }
  expect(await Promise.all(looks.map(([granularity, fromMs]) => series(granularity, fromMs)))).toEqual(before);
  const rowsAfter = Number(
    (await sql<{ n: bigint }>('SELECT count(*) AS n FROM core.usage_hour WHERE account_id = $1', [other.accountId]))
      .rows[0]?.n,
  );
  expect(rowsAfter).toBeLessThan(rowsBefore / 4);
});

test('a key that has not spent since its window ended is in order, also when the entries of that window are gone', async () => {
  await setClock(shop.db, Date.UTC(2035, 0, 10));
  const capped = await openAccount(shop.db, 1_000_000n);
  const change = (what: string) => sql(`UPDATE core.api_key SET ${what} WHERE account_id = $1`, [capped.accountId]);
  await change(`spend_cap_nanos = 500000, spend_cap_period = 'daily'`);
  expect(codeOf(await shop.lanes.submit(call(capped, { effect: rowEffect() })))).toBe('done');
  expect(await findings(capped)).toEqual([]);
  await change('spend_used_nanos = spend_used_nanos + 1');
  expect(await findings(capped)).toEqual(['key_cap']);
  await change('spend_used_nanos = spend_used_nanos - 1');
  await setClock(shop.db, Date.UTC(2035, 4, 10));
  await runAll(KEEP_DAYS);
  expect(await months(2035)).toEqual([]);
  expect(await findings(capped)).toEqual([]);
});

test('a process that is late, and finds its month dropped by another, drops no other month', async () => {
  await setClock(shop.db, Date.UTC(2036, 0, 10));
  const other = await openAccount(shop.db, 1_000_000n);
  await setClock(shop.db, Date.UTC(2036, 1, 10));
  expect(codeOf(await shop.lanes.submit(call(other, { effect: rowEffect() })))).toBe('done');
  await setClock(shop.db, Date.UTC(2036, 6, 10));
  const run = (db: Database) => ledgerRetention(db, KEEP_DAYS).run(new AbortController().signal);
  let isFirst = true;
  const late = new Proxy(shop.db, {
    get(db, name) {
      if (name !== 'transaction') return Reflect.get(db, name, db).bind(db);
      return async (body: Parameters<Database['transaction']>[0]) => {
        if (isFirst) {
          isFirst = false;
          await run(db);
        }
        return db.transaction(body);
      };
    },
  });
  await run(late);
  expect(await months(2036)).toEqual(['core.ledger_203602']);
  expect(await findings(other)).toEqual([]);
});
