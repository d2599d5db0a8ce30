// Retention and the numbering of events read what they work on and nothing else: also after several rounds of retention, when new
// rows have filled the room of deleted ones, and with a backlog.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Sweep } from '../../src/core/background/sweeper/sweep.ts';
import { usageFolding } from '../../src/core/usage/fold.ts';
import { ledgerEntries } from '../../src/core/wallet/ledger/read.ts';
import { Database, type Transaction } from '../../src/db/database.ts';
import { cronSweeps } from '../../src/modules/cron/sweeps.ts';
import { queueSweeps } from '../../src/modules/queue/sweeps.ts';
import { retentionSweeps } from '../../src/upkeep/retention.ts';
import { accountsWithEvents, sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openAccount } from '../wallet/harness.ts';

const ROWS = 6_000;
const ROUNDS = 5;
const IDLE_BLOCKS = 45;

let database: TestDatabase;
let db: Database;

// One connection: what it prepared is what the service runs.
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 1 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

function sql<R>(text: string, values: (string | bigint)[] = []) {
  return db.query<R>({ name: '', text }, values);
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly Node[];
}

interface Look {
  readonly rows: number;
  readonly blocks: number;
  readonly indexes: readonly string[];
  readonly nodes: readonly string[];
}

/** Runs a statement that the service has prepared as PostgreSQL would run it then, and undoes it. */
async function lookAt(name: string, values: string): Promise<Look> {
  let plan: Node | undefined;
  const raw = (text: string) => ({ name: '', text });
  await db
    .transaction(async (tx: Transaction) => {
      const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
        raw(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE ${name} (${values})`),
        [],
      );
      plan = rows[0]?.['QUERY PLAN'][0].Plan;
      throw new Error('undo');
    })
    .catch((error: Error) => {
      if (error.message !== 'undo') throw error;
    });
  const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const nodes = all(plan as Node);
  const top = plan as Node;
  return {
    rows: top['Actual Rows'],
    blocks: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    nodes: nodes.map((node) => node['Node Type']),
  };
}

interface Kept {
  readonly table: string;
  readonly sweep: string;
  readonly find: string;
  readonly index: string;
  /** Inserts rows 1 to $1 of round $2; they are past their time when the clock stands a year later. */
  readonly fill: string;
}

const at = `core.clock_now() + n * interval '1 millisecond'`;
const rows = `FROM generate_series(1, ${ROWS}) n`;
const kept: readonly Kept[] = [
  {
    table: 'core.idempotency',
    sweep: 'idempotency.retention',
    find: 'retention_find_answers',
    index: 'idempotency_expiry',
    fill: `INSERT INTO core.idempotency (account_id, key_hash, fingerprint, answer, created_at, expires_at)
           SELECT 'acct_' || n % 7, $1 || n, '', 'x', core.clock_now(), ${at} + interval '1 day' ${rows}`,
  },
  {
    table: 'core.event',
    sweep: 'events.retention',
    find: 'retention_find_events',
    index: 'event_age',
    fill: `INSERT INTO core.event (account_id, sequence, event_id, type, data, created_at)
           SELECT 'acct_' || n % 7, $1::text::bigint * 100000 + n, $1::text || n, 't', 'x', ${at} ${rows}`,
  },
  {
    table: 'core.delivery',
    sweep: 'webhooks.retention',
    find: 'retention_find_deliveries',
    index: 'delivery_age',
    fill: `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, created_at)
           SELECT 'acct_' || n % 7, $1 || n, 'w', n, 'e', 't', 'succeeded', 1, ${at} ${rows}`,
  },
  {
    table: 'core.hold',
    sweep: 'holds.retention',
    find: 'retention_find_holds',
    index: 'hold_settled',
    fill: `INSERT INTO core.hold (account_id, hold_id, capability, key_id, units, amount_nanos, grant_ids, grant_nanos, day_start,
                                  month_start, status, owner, created_at, expires_at, settled_at)
           SELECT 'acct_' || n % 7, $1 || n, 'c', 'k', 1, 1, '{}', '{}', now(), now(), 'captured', 'o', now(), now(), ${at} ${rows}`,
  },
  {
    table: 'core.vendor_attempt',
    sweep: 'vendors.attempt_retention',
    find: 'retention_find_attempts',
    index: 'vendor_attempt_age',
    fill: `INSERT INTO core.vendor_attempt (account_id, attempt_id, work, capability, vendor, model, adapter, base_url, asset_hosts, timeouts,
                                            request, token, quote_nanos, state, created_at, ended_at)
           SELECT 'acct_' || n % 7, $1 || n, 'w', 'c', 'v', 'm', 'a', 'u', '{}', '{}', '{}', $1 || n, 0, 'ended', now(), ${at} ${rows}`,
  },
  {
    table: 'cron.run',
    sweep: 'cron.runs',
    find: 'cron_find_old_runs',
    index: 'run_age',
    fill: `INSERT INTO cron.run (account_id, run_id, job_id, scheduled_at, started_at, status, attempt, cost_nanos)
           SELECT 'acct_' || n % 7, $1 || n, 'j' || $1 || n, now(), ${at}, 'succeeded', 1, 0 ${rows}`,
  },
  {
    table: 'queue.dedup',
    sweep: 'queue.dedup',
    find: 'sweep_find_dedup',
    index: 'dedup_expiry',
    fill: `INSERT INTO queue.dedup (account_id, queue_id, deduplication_id, answer, expires_at)
           SELECT 'acct_' || n % 7, 1, $1 || n, 'x', ${at} + interval '5 minutes' ${rows}`,
  },
];

async function moveClock(days: number): Promise<void> {
  await sql(`CREATE OR REPLACE FUNCTION core.clock_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
             AS $$ SELECT statement_timestamp() + interval '${days} days' $$`);
}

async function drain(sweep: Sweep): Promise<void> {
  while (await sweep.run(new AbortController().signal)) {
    // a bite at a time
  }
}

describe.each(kept)('$table', ({ table, sweep: name, find, index, fill }) => {
  test('after rounds of retention and filling, what is old is found by its index with few blocks, and only that goes', async () => {
    const state = { core: { db } } as Parameters<typeof queueSweeps>[0];
    const sweep = [...retentionSweeps(db), ...cronSweeps(db), ...queueSweeps(state)].find(
      (task) => task.name === name,
    ) as Sweep;
    for (let round = 1; round <= ROUNDS; round += 1) {
      await moveClock(100 * round);
      await sql(fill, [String(round)]);
      await drain(sweep);
      await sql(`VACUUM ${table}`);
      const { rows: counted } = await sql<{ count: bigint }>(`SELECT count(*) AS count FROM ${table}`);
      expect(counted[0]?.count).toBe(BigInt(ROWS));
    }
    // Nothing is old: hardly anything is read.
    const idle = await vi.waitFor(async () => {
      // An analysis by PostgreSQL itself that runs meanwhile keeps VACUUM from removing what was deleted.
      await sql(`VACUUM ${table}`);
      const found = await lookAt(find, '1000');
      expect(found.blocks).toBeLessThan(IDLE_BLOCKS);
      return found;
    }, 50_000);
    expect(idle).toMatchObject({ rows: 0, indexes: [index] });
    expect(idle.nodes).not.toContain('Seq Scan');
    // Everything is old: as many rows as asked for.
    await moveClock(100 * (ROUNDS + 1));
    const busy = await lookAt(find, '1000');
    expect(busy).toMatchObject({ rows: 1000, indexes: [index] });
    // A row is a visit of its page at most, and a page of the index holds many entries.
    expect(busy.blocks).toBeLessThan(1_100);
  });
});

test('numbering events reads those it numbers, however many wait behind them', async () => {
  const { accountId } = await openAccount(db);
  await sequenceAccount(db, accountId);
  await accountsWithEvents(db, '', 1);
  await sql(
    `INSERT INTO core.event_outbox (account_id, event_id, type, data, created_at)
     SELECT $1, 'evt_' || lpad(n::text, 9, '0'), 'wallet.low_balance', '{}', core.clock_now() + n * interval '1 millisecond'
       FROM generate_series(1, 50000) n`,
    [accountId],
  );
  await sql('ANALYZE core.event_outbox');
  const page = await lookAt('event_read_outbox', `'${accountId}', 200`);
  expect(page).toMatchObject({ rows: 200, indexes: ['event_outbox_pkey'] });
  expect(page.nodes.some((node) => node.includes('Sort'))).toBe(false);
  expect(page.blocks).toBeLessThan(60);
  const account = await lookAt('event_find_outbox', `''`);
  expect(account).toMatchObject({ rows: 1, indexes: ['event_outbox_pkey'] });
  expect(account.blocks).toBeLessThan(10);
});

test('the entries of one key are read by their index, however many others there are', async () => {
  const { accountId } = await openAccount(db, 1n);
  await sql(
    `INSERT INTO core.ledger (account_id, entry_seq, batch_id, kind, capability, key_id, units, amount_nanos, balance_after_nanos, created_at)
     SELECT w.account_id, w.last_seq + n, n, 'charge', 'queue.publish', CASE WHEN n % 4000 = 0 THEN 'key_rare' ELSE 'key_busy' END, 1, 0, 0, now()
       FROM core.wallet w, generate_series(1, 20000) n WHERE w.account_id = $1`,
    [accountId],
  );
  await sql('ANALYZE core.ledger');
  const filter = { fromMs: null, toMs: null, capability: null, keyId: 'key_rare' };
  expect(await ledgerEntries(db, accountId, filter, null, 20)).toHaveLength(5);
  const page = await lookAt('ledger_read_page_of_key', `'${accountId}', 9223372036854775807, 0, NULL, 20, 'key_rare'`);
  expect(page.rows).toBe(5);
  expect(page.indexes.every((index) => index.includes('key'))).toBe(true);
  expect(page.blocks).toBeLessThan(60);
});

test('usage to be folded is found by indexes that hold nothing else', async () => {
  await moveClock(0);
  const { accountId } = await openAccount(db);
  await sql(
    `INSERT INTO core.usage_hour (account_id, hour, capability, key_id, request_count, error_count, units, spend_nanos)
     SELECT $1, date_trunc('hour', now()) - n * interval '1 hour', 'c', 'k', 1, 0, 1, 1 FROM generate_series(1, 20000) n`,
    [accountId],
  );
  await drain(usageFolding(db));
  await sql('VACUUM ANALYZE core.usage_hour');
  for (const [name, index, days] of [
    ['usage_find_hours', 'usage_hour_hours', 64],
    ['usage_find_days', 'usage_hour_days', 470],
  ] as const) {
    const idle = await lookAt(name, `1000, now() - interval '${days} days'`);
    expect(idle).toMatchObject({ rows: 0, indexes: [index] });
    expect(idle.blocks).toBeLessThan(20);
  }
});
