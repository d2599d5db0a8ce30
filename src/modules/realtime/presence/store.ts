// SQL of occupancy and presence: a row per channel and process with subscribers, and per member and process. A row counts until it is deleted.
// The process that deletes the last row of a channel or member announces it in the same transaction, under the wallet lock.
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const lockSequence = statement(
  'realtime_lock_sequence',
  'SELECT last_seq FROM core.wallet WHERE account_id = $1 FOR UPDATE',
);
const saveSequence = statement('realtime_save_sequence', 'UPDATE core.wallet SET last_seq = $2 WHERE account_id = $1');
const readOccupied = statement(
  'realtime_read_occupied',
  `SELECT channel, process_id, subscriptions FROM realtime.occupancy WHERE account_id = $1 AND channel = ANY($2::text[])`,
);
const readMembers = statement(
  'realtime_read_members',
  `SELECT channel, user_id, process_id, user_info FROM realtime.presence
    WHERE account_id = $1 AND channel = ANY($2::text[]) ORDER BY channel, user_id`,
);
const saveOccupied = statement(
  'realtime_save_occupied',
  `INSERT INTO realtime.occupancy AS o (account_id, channel, process_id, subscriptions)
   SELECT w.account_id, u.channel, $2, u.subscriptions
     FROM core.wallet w, unnest($3::text[], $4::integer[]) u(channel, subscriptions)
    WHERE w.account_id = $1
       ON CONFLICT (account_id, channel, process_id) DO UPDATE SET subscriptions = excluded.subscriptions`,
);
const deleteOccupied = statement(
  'realtime_delete_occupied',
  'DELETE FROM realtime.occupancy WHERE account_id = $1 AND process_id = $2 AND channel = ANY($3::text[])',
);
const saveMembers = statement(
  'realtime_save_members',
  `INSERT INTO realtime.presence AS p (account_id, channel, user_id, process_id, user_info)
   SELECT w.account_id, u.channel, u.user_id, $2, u.user_info
     FROM core.wallet w, unnest($3::text[], $4::text[], $5::text[]) u(channel, user_id, user_info)
    WHERE w.account_id = $1
       ON CONFLICT (account_id, channel, user_id, process_id) DO UPDATE SET user_info = excluded.user_info`,
);
const deleteMembers = statement(
  'realtime_delete_members',
  `DELETE FROM realtime.presence
    WHERE account_id = $1 AND process_id = $2
      AND (channel, user_id) IN (SELECT u.channel, u.user_id FROM unnest($3::text[], $4::text[]) u(channel, user_id))`,
);
const readHeld = statement(
  'realtime_read_held',
  'SELECT channel FROM realtime.occupancy WHERE account_id = $1 AND process_id = $2 ORDER BY channel LIMIT $3',
);

export interface OccupancyRow {
  readonly channel: string;
  readonly process_id: string;
  readonly subscriptions: number;
}

export interface MemberRow {
  readonly channel: string;
  readonly user_id: string;
  readonly process_id: string;
  readonly user_info: string;
}

/** Locks the account; its last sequence number. Null: it is gone. */
export async function lockAccount(tx: Transaction, accountId: string): Promise<bigint | null> {
  return (await tx.query<{ last_seq: bigint }>(lockSequence, [accountId])).rows[0]?.last_seq ?? null;
}

export async function writeSequence(tx: Transaction, accountId: string, seq: bigint): Promise<void> {
  await tx.query(saveSequence, [accountId, seq]);
}

export async function occupancyRows(db: Queryable, accountId: string, channels: readonly string[]) {
  return (await db.query<OccupancyRow>(readOccupied, [accountId, textArray(channels)])).rows;
}

export async function members(db: Queryable, accountId: string, channels: readonly string[]) {
  if (channels.length === 0) return [];
  return (await db.query<MemberRow>(readMembers, [accountId, textArray(channels)])).rows;
}

/** Channels that a process has rows of. */
export async function heldBy(db: Queryable, accountId: string, processId: string, limit: number): Promise<string[]> {
  return (await db.query<{ channel: string }>(readHeld, [accountId, processId, limit])).rows.map((row) => row.channel);
}

export interface Rows {
  readonly saved: readonly Pick<OccupancyRow, 'channel' | 'subscriptions'>[];
  readonly deleted: readonly string[];
  readonly joined: readonly Pick<MemberRow, 'channel' | 'user_id' | 'user_info'>[];
  readonly left: readonly Pick<MemberRow, 'channel' | 'user_id'>[];
}

/** Writes what the process has now. */
export async function writeRows(tx: Transaction, accountId: string, processId: string, rows: Rows): Promise<void> {
  const id = [accountId, processId];
  const { saved, deleted, joined, left } = rows;
  const channelsOf = (of: readonly { readonly channel: string }[]) => textArray(of.map(({ channel }) => channel));
  const usersOf = (of: readonly { readonly user_id: string }[]) => textArray(of.map(({ user_id }) => user_id));
  await Promise.all([
    saved.length > 0 &&
      tx.query(saveOccupied, [...id, channelsOf(saved), int4Array(saved.map(({ subscriptions }) => subscriptions))]),
    deleted.length > 0 && tx.query(deleteOccupied, [...id, textArray(deleted)]),
    joined.length > 0 &&
      tx.query(saveMembers, [
        ...id,
        ...[channelsOf(joined), usersOf(joined), textArray(joined.map(({ user_info }) => user_info))],
      ]),
    left.length > 0 && tx.query(deleteMembers, [...id, channelsOf(left), usersOf(left)]),
  ]);
}
