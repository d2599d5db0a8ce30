// SQL of realtime.app: an account's API key for realtime and its settings.
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';

export interface AppRow {
  /** Null: nobody has asked for the app yet. */
  readonly key_id: string | null;
  readonly history_seconds: number;
  readonly client_events: boolean;
  readonly updated_at: number;
}

const findApp = statement(
  'realtime_find_app',
  'SELECT a.key_id, a.history_seconds, a.client_events, a.updated_at FROM realtime.app a WHERE a.account_id = $1',
);
const saveApp = statement(
  'realtime_save_app',
  `INSERT INTO realtime.app (account_id, key_id, history_seconds, client_events, updated_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id) DO UPDATE SET key_id = excluded.key_id, history_seconds = excluded.history_seconds,
                                              client_events = excluded.client_events, updated_at = excluded.updated_at`,
);
const readHistory = statement(
  'realtime_read_history',
  'SELECT a.account_id, a.history_seconds FROM realtime.app a WHERE a.account_id = ANY($1::text[])',
);

export async function findAppRow(db: Queryable, accountId: string): Promise<AppRow | null> {
  return (await db.query<AppRow>(findApp, [accountId])).rows[0] ?? null;
}

/** The caller holds the account. */
export async function saveAppRow(tx: Transaction, accountId: string, row: AppRow): Promise<AppRow> {
  const { key_id: keyId, history_seconds: seconds, client_events: clientEvents, updated_at: updatedMs } = row;
  await tx.query(saveApp, [accountId, keyId, seconds, clientEvents, timestamp(updatedMs)]);
  return row;
}

/** Of those of the accounts that have set it. */
export async function readHistorySeconds(db: Queryable, accounts: Buffer): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ account_id: string; history_seconds: number }>(readHistory, [accounts]);
  return new Map(rows.map((row) => [row.account_id, row.history_seconds]));
}
