// Retention of the ledger: LEDGER_DAYS, in whole months. Before a month is dropped, its totals are added to core.ledger_total, account by
// account and in bounded steps. Totals and entries together still prove wallet, counters and usage (`qm doctor`).

import { listAccounts } from '../core/accounts/accounts.ts';
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { mendEach } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Database, Transaction } from '../db/database.ts';
import { dropPartitions, oldestPartition } from '../db/partitions.ts';
import { statement } from '../db/statement.ts';
import { sequenceAt } from '../lib/sequence.ts';
import { DAY_MS } from '../lib/time.ts';

const LEDGER = ['core.ledger'];
const ACCOUNTS_PER_PAGE = 200;
const ENTRIES_PER_STEP = 20_000;

const openFolded = statement(
  'ledger_open_folded',
  'INSERT INTO core.ledger_folded (account_id, through_seq) VALUES ($1, -1) ON CONFLICT (account_id) DO NOTHING',
);
const lockFolded = statement(
  'ledger_lock_folded',
  'SELECT through_seq FROM core.ledger_folded WHERE account_id = $1 FOR UPDATE',
);
const findStep = statement(
  'ledger_find_step',
  `SELECT max(s.entry_seq) AS through, count(*) AS entries
     FROM (SELECT l.entry_seq FROM core.ledger l WHERE l.account_id = $1 AND l.entry_seq > $2 AND l.entry_seq < $3
            ORDER BY l.entry_seq LIMIT $4) s`,
);
const addTotals = statement(
  'ledger_add_totals',
  `INSERT INTO core.ledger_total AS t (account_id, month, kind, capability, key_id, entries, units, amount_nanos)
   SELECT l.account_id, $4::date, l.kind, coalesce(l.capability, ''), coalesce(l.key_id, ''),
          count(*), sum(l.units)::bigint, sum(l.amount_nanos)::bigint
     FROM core.ledger l
    WHERE l.account_id = $1 AND l.entry_seq > $2 AND l.entry_seq <= $3
    GROUP BY l.account_id, l.kind, coalesce(l.capability, ''), coalesce(l.key_id, '')
       ON CONFLICT (account_id, month, kind, capability, key_id) DO UPDATE
      SET entries = t.entries + excluded.entries, units = t.units + excluded.units,
          amount_nanos = t.amount_nanos + excluded.amount_nanos`,
);
const saveFolded = statement(
  'ledger_save_folded',
  'UPDATE core.ledger_folded SET through_seq = $2 WHERE account_id = $1',
);

export function ledgerRetention(db: Database, keepDays: number): Sweep {
  return { name: 'ledger.retention', intervalMs: 600_000, run: (signal) => dropMonth(db, keepDays, signal) };
}

/** Folds and drops the oldest month that is over; answers whether there was one. */
async function dropMonth(db: Database, keepDays: number, signal: AbortSignal): Promise<boolean> {
  const beforeMs = (await clockNow(db)) - keepDays * DAY_MS;
  const month = await oldestPartition(db, LEDGER, beforeMs);
  if (month === null) return false;
  let last = '';
  for (;;) {
    const page = await listAccounts(db, last, ACCOUNTS_PER_PAGE);
    const finished = await mendEach(page, signal, async ({ accountId }) => {
      while (!signal.aborted && (await db.transaction((tx) => foldSome(tx, accountId, month)))) {
        // each step is a transaction of its own
      }
    });
    if (!finished) return false;
    if (page.length < ACCOUNTS_PER_PAGE) break;
    last = (page.at(-1) as (typeof page)[number]).accountId;
  }
  // By its name: another process may have dropped it meanwhile, and the oldest one is a month that nobody has folded.
  await dropPartitions(db, LEDGER, month.suffix);
  return true;
}

/** Adds some entries before the end of the month to its totals; answers whether there may be more. */
async function foldSome(
  tx: Transaction,
  accountId: string,
  month: { readonly startMs: number; readonly endMs: number },
): Promise<boolean> {
  const [, folded] = await Promise.all([
    tx.query(openFolded, [accountId]),
    tx.query<{ through_seq: bigint }>(lockFolded, [accountId]),
  ]);
  const after = folded.rows[0]?.through_seq ?? -1n;
  const end = sequenceAt(month.endMs);
  const step = await tx.query<{ through: bigint | null; entries: bigint }>(findStep, [
    accountId,
    after,
    end,
    ENTRIES_PER_STEP,
  ]);
  const { through = null, entries = 0n } = step.rows[0] ?? {};
  if (through === null) return false;
  await Promise.all([
    tx.query(addTotals, [accountId, after, through, new Date(month.startMs).toISOString().slice(0, 10)]),
    tx.query(saveFolded, [accountId, through]),
  ]);
  return entries === BigInt(ENTRIES_PER_STEP);
}
