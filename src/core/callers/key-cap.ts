// Spend caps of keys: the most that one key may spend in total, in a UTC day or in a month (contract §2). Committed and held amounts are counted
// in the key's row under the wallet lock, and only while the key has a cap. A new cap includes earlier spending. A hold counts in the window in
// which it began, as in the budget.

import { int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { encodeNumber } from '../../lib/base62.ts';
import { sequenceAt } from '../../lib/sequence.ts';
import { DAY_MS, startOfNextMonth } from '../../lib/time.ts';

/** What a key may spend at most in its window, and what is charged and held against it so far. */
export interface SpendCap {
  readonly keyId: string;
  readonly cap: bigint;
  readonly committed: bigint;
  /** Null: the window never ends. */
  readonly endsAtMs: number | null;
}

/** What a key with a cap was admitted for. */
export interface KeySpend {
  readonly keyId: string;
  readonly charged: bigint;
  readonly held: bigint;
}

export type CapPeriod = 'total' | 'daily' | 'monthly';

export interface CapSetting {
  readonly period: CapPeriod;
  /** Nano-USD; zero blocks every billable call of the key. */
  readonly nanos: bigint;
}

/** The cap's columns of a key's row. */
export interface CapColumns {
  readonly spend_cap_nanos: bigint | null;
  readonly spend_cap_period: CapPeriod | null;
  readonly spend_window_start: number | null;
  readonly spend_used_nanos: bigint;
  readonly spend_held_nanos: bigint;
}

/** A key's cap with what was charged and is held in its window, nano-USD. */
export interface KeyCap {
  readonly keyId: string;
  readonly cap: bigint;
  readonly period: CapPeriod;
  readonly windowStartMs: number;
  /** Null: it never ends. */
  readonly endsAtMs: number | null;
  readonly used: bigint;
  readonly held: bigint;
}

/** The day and the month in which something counts: of a rolled wallet, or of a hold. */
interface Windows {
  readonly day_start: number;
  readonly month_start: number;
}

/** An open wallet, as far as caps look at them. */
interface OfWallet {
  readonly wallet: Windows & { readonly account_id: string };
}

export const CAP_COLUMNS =
  'k.spend_cap_nanos, k.spend_cap_period, k.spend_window_start, k.spend_used_nanos, k.spend_held_nanos';

const readCaps = statement(
  'key_cap_read',
  `SELECT k.key_id, ${CAP_COLUMNS}
     FROM core.api_key k
    WHERE k.account_id = $1 AND k.key_id = ANY($2::text[]) AND k.spend_cap_nanos IS NOT NULL`,
);
const updateSpends = statement(
  'key_cap_update_spends',
  `UPDATE core.api_key AS k
      SET spend_window_start = u.window_start, spend_used_nanos = u.used, spend_held_nanos = u.held
     FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::bigint[]) u(account_id, key_id, window_start, used, held)
    WHERE k.account_id = ANY($1::text[]) AND k.account_id = u.account_id AND k.key_id = u.key_id`,
);
// A window that the key has left behind counts no more.
const settleHeld = statement(
  'key_cap_settle_held',
  `UPDATE core.api_key
      SET spend_used_nanos = spend_used_nanos + $4, spend_held_nanos = greatest(spend_held_nanos - $3, 0)
    WHERE account_id = $1 AND key_id = $2 AND spend_cap_nanos IS NOT NULL
      AND (   spend_cap_period = 'total'
           OR (spend_cap_period = 'daily' AND spend_window_start = $5)
           OR (spend_cap_period = 'monthly' AND spend_window_start = $6))`,
);
// Usage is booked when a hold is captured: what was held before the window began is not of the window, however long it was held.
// The id of a hold begins with its time, so that the capture's entry alone says when its hold began.
const readSpent = statement(
  'key_cap_read_spent',
  `SELECT (SELECT coalesce(sum(u.spend_nanos), 0) FROM core.usage_hour u
            WHERE u.account_id = $1 AND u.key_id = $2 AND u.hour >= $3)
          + (SELECT coalesce(sum(l.amount_nanos), 0) FROM core.ledger l
              WHERE l.account_id = $1 AND l.key_id = $2 AND l.entry_seq >= $5 AND l.kind = 'capture'
                AND l.reference COLLATE "C" < $4) AS used,
          (SELECT coalesce(sum(h.amount_nanos), 0) FROM core.hold h
            WHERE h.account_id = $1 AND h.key_id = $2 AND h.status = 'active' AND h.hold_id >= $4) AS held`,
);
const updateAmount = statement(
  'key_cap_update_amount',
  `UPDATE core.api_key SET spend_cap_nanos = $3 WHERE account_id = $1 AND key_id = $2`,
);
const updateCap = statement(
  'key_cap_update',
  `UPDATE core.api_key
      SET spend_cap_nanos = $3, spend_cap_period = $4, spend_window_start = $5, spend_used_nanos = $6, spend_held_nanos = $7
    WHERE account_id = $1 AND key_id = $2`,
);

/** The cap in the windows given; null for a key without one. */
export function capOf(row: CapColumns & { readonly key_id: string }, windows: Windows): KeyCap | null {
  const { key_id: keyId, spend_cap_nanos: cap, spend_cap_period: period } = row;
  if (cap === null || period === null) return null;
  const windowStartMs = windowStart(period, windows);
  const isSame = period === 'total' || row.spend_window_start === windowStartMs;
  const used = isSame ? row.spend_used_nanos : 0n;
  const held = isSame ? row.spend_held_nanos : 0n;
  return { keyId, cap, period, windowStartMs, endsAtMs: windowEnd(period, windows), used, held };
}

/** What admission looks at. */
export function spendCapOf({ keyId, cap, used, held, endsAtMs }: KeyCap): SpendCap {
  return { keyId, cap, committed: used + held, endsAtMs };
}

/** The cap after what was admitted; the same object when nothing was. */
export function capAfter(cap: KeyCap, spends: readonly KeySpend[]): KeyCap {
  const spend = spends.find(({ keyId }) => keyId === cap.keyId);
  return spend === undefined ? cap : { ...cap, used: cap.used + spend.charged, held: cap.held + spend.held };
}

/** Of keys whose work is charged without a call of theirs. */
export async function readKeyCaps(tx: Queryable, { wallet }: OfWallet, keyIds: readonly string[]): Promise<KeyCap[]> {
  const values = [wallet.account_id, textArray([...new Set(keyIds)])];
  const { rows } = await tx.query<CapColumns & { readonly key_id: string }>(readCaps, values);
  return rows.flatMap((row) => capOf(row, wallet) ?? []);
}

/** Sends what keys with a cap have spent. */
export function saveSpends(tx: Queryable, rows: readonly (KeyCap & { readonly accountId: string })[]) {
  return tx.query(updateSpends, [
    textArray([...new Set(rows.map((row) => row.accountId))]),
    textArray(rows.map((row) => row.accountId)),
    textArray(rows.map((row) => row.keyId)),
    timestampArray(rows.map((row) => row.windowStartMs)),
    int8Array(rows.map((row) => row.used)),
    int8Array(rows.map((row) => row.held)),
  ]);
}

interface SettledHold extends Windows {
  readonly key_id: string;
  readonly amount_nanos: bigint;
}

/** Moves what a hold reserved of its key's cap to what was captured of it. */
export function settleCap(tx: Queryable, accountId: string, hold: SettledHold, captured: bigint) {
  const windows = [timestamp(hold.day_start), timestamp(hold.month_start)];
  return tx.query(settleHeld, [accountId, hold.key_id, hold.amount_nanos, captured, ...windows]);
}

/** Sets or removes (null) the cap of a key. With a new period, or the first cap, what its window has spent already counts at once. */
export async function setCap(
  tx: Transaction,
  { wallet }: OfWallet,
  keyId: string,
  before: CapSetting | null,
  cap: CapSetting | null,
): Promise<void> {
  const id = [wallet.account_id, keyId];
  if (cap === null) {
    await tx.query(updateCap, [...id, null, null, null, 0n, 0n]);
    return;
  }
  if (before?.period === cap.period) {
    await tx.query(updateAmount, [...id, cap.nanos]);
    return;
  }
  const startMs = windowStart(cap.period, wallet);
  const { used, held } = await spentSince(tx, id, startMs);
  await tx.query(updateCap, [...id, cap.nanos, cap.period, timestamp(startMs), used, held]);
}

/** What counts in a window that began at `startMs`. */
async function spentSince(tx: Queryable, id: readonly string[], startMs: number) {
  const firstHold = `hold_${encodeNumber(startMs, 8)}`;
  const values = [...id, timestamp(startMs), firstHold, sequenceAt(startMs)];
  const { rows } = await tx.query<{ used: bigint; held: bigint }>(readSpent, values);
  return rows[0] as { used: bigint; held: bigint };
}

function windowStart(period: CapPeriod, { day_start, month_start }: Windows): number {
  if (period === 'total') return 0;
  return period === 'daily' ? day_start : month_start;
}

function windowEnd(period: CapPeriod, { day_start, month_start }: Windows): number | null {
  if (period === 'total') return null;
  return period === 'daily' ? day_start + DAY_MS : startOfNextMonth(month_start);
}
