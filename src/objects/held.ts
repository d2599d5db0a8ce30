// Metering of stored bytes: the exact sum of bytes times milliseconds for each account. Every commit that changes the stored bytes first adds
// the time since the last one. All writes hold the lock of the account's wallet.

import { openTurn } from '../core/background/turns.ts';
import type { Tier } from '../core/callers/tiers.ts';
import { int8Array, textArray, timestampArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { HOUR_MS, heldBytesMax } from './limits.ts';

/** The only row of an account. */
export const HELD_ID = 'storage';
export const HELD_WORK = 'storage.held';

export interface HeldRow {
  readonly account_id: string;
  readonly bytes: bigint;
  readonly since_ms: bigint;
  readonly byte_ms: bigint;
  readonly key_id: string;
  readonly unpaid_since: number | null;
  readonly due_at: number | null;
}

const COLUMNS = 'h.account_id, h.bytes, h.since_ms, h.byte_ms, h.key_id, h.unpaid_since, h.due_at';

const selectHeld = statement(
  'storage_select_held',
  `SELECT ${COLUMNS} FROM storage.held h WHERE h.account_id = ANY($1::text[]) AND h.held_id = '${HELD_ID}'`,
);
const insertHeld = statement(
  'storage_insert_held',
  `INSERT INTO storage.held (account_id, held_id, since_ms, key_id) VALUES ($1, '${HELD_ID}', $2, $3)
       ON CONFLICT (account_id, held_id) DO NOTHING`,
);
// From what stands there: parts and objects of one commit are written by statements of their own.
const changeHeld = statement(
  'storage_change_held',
  `UPDATE storage.held AS h
      SET byte_ms = h.byte_ms + h.bytes::numeric * greatest(u.now_ms - h.since_ms, 0), since_ms = greatest(u.now_ms, h.since_ms),
          bytes = h.bytes + u.added, key_id = u.key_id, due_at = coalesce(h.due_at, u.due_at)
     FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::timestamptz[]) u(account_id, added, now_ms, key_id, due_at)
    WHERE h.account_id = ANY($1::text[]) AND h.account_id = u.account_id AND h.held_id = '${HELD_ID}'`,
);
const updateHeld = statement(
  'storage_update_held',
  `UPDATE storage.held AS h
      SET bytes = u.bytes, since_ms = u.since_ms, byte_ms = u.byte_ms::numeric, key_id = u.key_id, due_at = u.due_at,
          unpaid_since = u.unpaid_since
     FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[])
          u(account_id, bytes, since_ms, byte_ms, key_id, due_at, unpaid_since)
    WHERE h.account_id = ANY($1::text[]) AND h.account_id = u.account_id AND h.held_id = '${HELD_ID}'`,
);

/** By account. */
export async function readHeld(tx: Queryable, accounts: Buffer): Promise<Map<string, HeldRow>> {
  const { rows } = await tx.query<HeldRow>(selectHeld, [accounts]);
  return new Map(rows.map((row) => [row.account_id, row]));
}

/** Before the first bucket of an account. */
export async function beginHeld(tx: Transaction, accountId: string, keyId: string, nowMs: number): Promise<void> {
  await tx.query(insertHeld, [accountId, Math.round(nowMs), keyId]);
}

/** The row with what passed up to `nowMs`. */
export function heldUntil(row: HeldRow, nowMs: number): HeldRow {
  const now = BigInt(Math.round(nowMs));
  const passed = now > row.since_ms ? now - row.since_ms : 0n;
  return { ...row, byte_ms: row.byte_ms + row.bytes * passed, since_ms: row.since_ms + passed };
}

export interface HeldChange {
  readonly row: HeldRow;
  readonly bytes: bigint;
  readonly keyId: string;
}

/** Sends what the accounts hold more or less; what begins to be held is first charged an hour later. */
export function sendHeld(tx: Transaction, changes: readonly HeldChange[], nowMs: number): void {
  const dueMs = nowMs + HOUR_MS;
  for (const { row } of changes) {
    if (row.due_at === null) void openTurn(tx, row.account_id, HELD_WORK, dueMs, { later: true });
  }
  void tx.query(changeHeld, [
    textArray([...new Set(changes.map(({ row }) => row.account_id))].sort()),
    textArray(changes.map(({ row }) => row.account_id)),
    int8Array(changes.map(({ bytes }) => bytes)),
    int8Array(changes.map(() => BigInt(Math.round(nowMs)))),
    textArray(changes.map(({ keyId }) => keyId)),
    timestampArray(changes.map(() => dueMs)),
  ]);
}

/** As given: by whoever has the lock and changes nothing else. */
export function saveHeld(tx: Queryable, rows: readonly HeldRow[]): Promise<unknown> {
  const accounts = textArray([...new Set(rows.map(({ account_id }) => account_id))].sort());
  return tx.query(updateHeld, [
    accounts,
    textArray(rows.map((row) => row.account_id)),
    int8Array(rows.map((row) => row.bytes)),
    int8Array(rows.map((row) => row.since_ms)),
    textArray(rows.map((row) => String(row.byte_ms))),
    textArray(rows.map((row) => row.key_id)),
    timestampArray(rows.map((row) => row.due_at)),
    timestampArray(rows.map((row) => row.unpaid_since)),
  ]);
}

/** Of an account that would hold more than its tier may; null: there is room. */
export function quotaFault(row: Pick<HeldRow, 'bytes'>, added: bigint, tier: Tier): Problem | null {
  const most = heldBytesMax[tier];
  if (row.bytes + added <= BigInt(most)) return null;
  return problem('QUOTA_EXCEEDED', {
    message: `Stored bytes: the tier ${tier} may hold ${most / 1e9} GB, and holds ${row.bytes} bytes. Delete objects, or ask for a higher tier.`,
  });
}

/** Bytes that the account holds now. */
export async function heldBytes(db: Queryable, accountId: string): Promise<number> {
  return Number((await readHeld(db, textArray([accountId]))).get(accountId)?.bytes ?? 0n);
}
