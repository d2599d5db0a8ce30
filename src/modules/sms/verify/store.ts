// SQL of verifications.
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable } from '../../../kit/resource.ts';
import { type VerificationRow, verificationColumns } from './row.ts';

export const verificationTable = resourceTable<VerificationRow>({
  table: 'sms.verification',
  key: 'verification_id',
  columns: verificationColumns,
  isNewestFirst: true,
  filters: ['status'],
});

const insert = statement(
  'sms_insert_verification',
  `INSERT INTO sms.verification (${verificationColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);
const lock = statement(
  'sms_lock_verification',
  `SELECT ${verificationColumns} FROM sms.verification WHERE account_id = $1 AND verification_id = $2 FOR UPDATE`,
);
const save = statement(
  'sms_save_verification',
  `UPDATE sms.verification SET status = $3, attempts_left = $4, ended_at = $5 WHERE account_id = $1 AND verification_id = $2`,
);
const unsent = statement(
  'sms_end_unsent',
  `UPDATE sms.verification SET status = 'failed', ended_at = $3
    WHERE account_id = $1 AND verification_id = $2 AND status = 'pending'`,
);
const noteMessage = statement(
  'sms_note_message',
  `UPDATE sms.verification SET message_id = $3 WHERE account_id = $1 AND verification_id = $2`,
);
const countPrefix = statement(
  'sms_count_prefix',
  `SELECT count(*)::int AS made FROM sms.verification v
    WHERE v.account_id = $1 AND v.prefix = $2 AND v.created_at > core.clock_now() - interval '1 hour'`,
);

export function sendInsertVerification(tx: Queryable, row: VerificationRow): Promise<unknown> {
  return tx.query(insert, [
    ...[row.account_id, row.verification_id, row.to_address, row.channel, row.prefix, row.code_hash, row.status],
    ...[
      row.attempts_left,
      row.message_id,
      timestamp(row.created_at),
      timestamp(row.expires_at),
      timestamp(row.ended_at),
    ],
  ]);
}

/** The row, locked until the transaction ends: tries at the same time count one after the other. */
export async function lockVerification(
  tx: Transaction,
  accountId: string,
  id: string,
): Promise<VerificationRow | null> {
  return (await tx.query<VerificationRow>(lock, [accountId, id])).rows[0] ?? null;
}

export async function saveVerification(
  tx: Transaction,
  { account_id, verification_id, status, attempts_left, ended_at }: VerificationRow,
): Promise<void> {
  await tx.query(save, [account_id, verification_id, status, attempts_left, timestamp(ended_at)]);
}

/** Its code never left. */
export async function endUnsent(tx: Queryable, accountId: string, id: string, nowMs: number): Promise<void> {
  await tx.query(unsent, [accountId, id, timestamp(nowMs)]);
}

export async function saveMessageId(tx: Queryable, accountId: string, id: string, messageId: string): Promise<void> {
  await tx.query(noteMessage, [accountId, id, messageId]);
}

/** Codes of the account to numbers of a calling code in the last hour. */
export async function countOfPrefix(tx: Queryable, accountId: string, prefix: string): Promise<number> {
  return (await tx.query<{ made: number }>(countPrefix, [accountId, prefix])).rows[0]?.made ?? 0;
}
