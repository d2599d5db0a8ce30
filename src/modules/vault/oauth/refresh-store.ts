// SQL of refreshes. A lease in the row lets one of all processes ask the token endpoint at a time; its number tells that one from those before.
// Each statement runs under the account's lock, as every change of a connection does.
//
// A new pair is saved wherever the pair that it was got for still stands, also by who has lost the lease meanwhile: what stands then is spent, and
// only that answer has what is good. A connection is broken by the number alone: who is behind may have been refused for what another one did.
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { ConnectionRow } from '../connections/row.ts';
import { REFRESH_LEASE_MS } from '../limits.ts';

const lease = statement(
  'vault_lease_refresh',
  `UPDATE vault.connection SET refresh_number = refresh_number + 1, refresh_ends_at = $4
    WHERE account_id = $1 AND connection = $2 AND sealed = $5 AND status = 'ready'
      AND (refresh_ends_at IS NULL OR refresh_ends_at <= $3)
   RETURNING refresh_number`,
);
const release = statement(
  'vault_release_refresh',
  'UPDATE vault.connection SET refresh_ends_at = NULL WHERE account_id = $1 AND connection = $2 AND refresh_number = $3',
);
const save = statement(
  'vault_save_tokens',
  `UPDATE vault.connection
      SET sealed = $4, token_ends_at = $5, refresh_at = $6, status = 'ready', broken_reason = NULL, refresh_ends_at = NULL
    WHERE account_id = $1 AND connection = $2 AND sealed = $3`,
);
const breakOne = statement(
  'vault_break_connection',
  `UPDATE vault.connection SET status = 'broken', broken_reason = $5, refresh_ends_at = NULL, updated_at = $6
    WHERE account_id = $1 AND connection = $2 AND refresh_number = $3 AND sealed = $4 AND status = 'ready'
   RETURNING notify_queue, last_used_by`,
);
const insertNotice = statement(
  'vault_insert_notice',
  `INSERT INTO vault.notice (account_id, notice_id, queue, payload, key_id, due_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);

type TokenTimes = Pick<ConnectionRow, 'token_ends_at' | 'refresh_at'>;

export interface Named {
  readonly accountId: string;
  readonly connection: string;
}

/** The number of the lease; null: another one has it, or the pair is not the one that was read. */
export async function leaseRefresh(
  tx: Transaction,
  { accountId, connection }: Named,
  sealed: Buffer,
  nowMs: number,
): Promise<bigint | null> {
  const endsAt = timestamp(nowMs + REFRESH_LEASE_MS);
  const { rows } = await tx.query<{ refresh_number: bigint }>(lease, [
    ...[accountId, connection, timestamp(nowMs), endsAt, sealed],
  ]);
  return rows[0]?.refresh_number ?? null;
}

export async function releaseRefresh(db: Queryable, { accountId, connection }: Named, number: bigint): Promise<void> {
  await db.query(release, [accountId, connection, number]);
}

/** False: the pair that they were got for stands no more. */
export async function saveTokens(
  tx: Transaction,
  { accountId, connection }: Named,
  { used, sealed, times }: { readonly used: Buffer; readonly sealed: Buffer; readonly times: TokenTimes },
): Promise<boolean> {
  const { token_ends_at: endsAt, refresh_at: refreshAt } = times;
  const { count } = await tx.query(save, [
    accountId,
    connection,
    used,
    sealed,
    timestamp(endsAt),
    timestamp(refreshAt),
  ]);
  return count > 0;
}

/** Null: another one has refreshed it since, or it is broken already. */
export async function breakConnection(
  tx: Transaction,
  { accountId, connection }: Named,
  { number, used, reason, nowMs }: { number: bigint; used: Buffer; reason: string; nowMs: number },
): Promise<{ readonly notify_queue: string | null; readonly last_used_by: string | null } | null> {
  const { rows } = await tx.query<{ notify_queue: string | null; last_used_by: string | null }>(breakOne, [
    ...[accountId, connection, number, used, reason, timestamp(nowMs)],
  ]);
  return rows[0] ?? null;
}

export interface NewNotice {
  readonly noticeId: string;
  readonly queue: string;
  readonly payload: string;
  readonly keyId: string;
  readonly dueMs: number;
}

/** Sends it without waiting. */
export function sendNotice(tx: Transaction, accountId: string, notice: NewNotice): void {
  const { noticeId, queue, payload, keyId, dueMs } = notice;
  void tx.query(insertNotice, [accountId, noticeId, queue, payload, keyId, timestamp(dueMs)]);
}
