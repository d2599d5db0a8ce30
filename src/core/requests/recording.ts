// The time until which an account has all of its calls recorded.
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

const ACCOUNTS_MAX = 10_000;

const selectAll = statement(
  'request_recording_all',
  `/* fan-out: accounts that have all calls recorded */
   SELECT r.account_id, (extract(epoch FROM r.record_all_until - core.clock_now()) * 1000)::int AS left_ms
     FROM core.request_recording r WHERE r.record_all_until > core.clock_now() ORDER BY r.record_all_until LIMIT $1`,
);
const selectOne = statement(
  'request_recording_one',
  'SELECT record_all_until FROM core.request_recording WHERE account_id = $1 AND record_all_until > core.clock_now()',
);
const upsert = statement(
  'request_recording_set',
  `INSERT INTO core.request_recording (account_id, record_all_until) VALUES ($1, $2)
       ON CONFLICT (account_id) DO UPDATE SET record_all_until = excluded.record_all_until`,
);
const remove = statement('request_recording_end', 'DELETE FROM core.request_recording WHERE account_id = $1');

/** Accounts, and until when by performance.now(). */
export async function readRecording(db: Database): Promise<Map<string, number>> {
  const { rows } = await db.query<{ account_id: string; left_ms: number }>(selectAll, [ACCOUNTS_MAX]);
  return new Map(rows.map(({ account_id, left_ms }) => [account_id, performance.now() + left_ms]));
}

/** Epoch milliseconds; null: the account records what fails, takes long, or changes it. */
export async function recordingUntil(db: Queryable, accountId: string): Promise<number | null> {
  const { rows } = await db.query<{ record_all_until: number }>(selectOne, [accountId]);
  return rows[0]?.record_all_until ?? null;
}

export async function setRecording(tx: Transaction, accountId: string, untilMs: number | null): Promise<void> {
  if (untilMs === null) await tx.query(remove, [accountId]);
  else await tx.query(upsert, [accountId, timestamp(untilMs)]);
}
