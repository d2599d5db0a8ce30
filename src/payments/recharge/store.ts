// SQL of core.recharge, the settings of auto-recharge, and core.recharge_attempt, its charges. All writes hold the wallet's lock.

import type { WalletRow } from '../../core/wallet/state.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Returns } from '../clawbacks/follow.ts';

export interface RechargeRow {
  readonly account_id: string;
  readonly enabled: boolean;
  readonly trigger_nanos: bigint;
  readonly amount_nanos: bigint;
  /** Null: the default of the account. */
  readonly method_id: string | null;
  readonly max_per_day: number;
  readonly max_per_month: number;
  /** Attempts that failed in a row. */
  readonly failures: number;
  /** The next attempt waits until then. */
  readonly retry_at: number | null;
  readonly disabled_reason: string | null;
}

export interface AttemptRow extends Returns {
  readonly account_id: string;
  readonly attempt_id: string;
  /** `open`: it is not known yet whether it was paid. */
  readonly status: 'open' | 'succeeded' | 'failed';
  readonly amount_nanos: bigint;
  readonly method_id: string;
  readonly method_ref: string;
  readonly provider: string;
  readonly test_mode: boolean;
  readonly payment_ref: string | null;
  readonly failure_code: string | null;
  readonly grant_id: string | null;
  readonly tries: number;
  readonly day_start: number;
  readonly month_start: number;
  readonly created_at: number;
  readonly settled_at: number | null;
}

/** What counts against the caps: attempts that succeeded, or of which it is not known. */
export interface Charged {
  readonly today: number;
  readonly thisMonth: number;
  readonly thisMonthNanos: bigint;
  /** Most that is charged in a month. */
  readonly limitNanos: bigint;
}

const RECHARGE = `account_id, enabled, trigger_nanos, amount_nanos, method_id, max_per_day, max_per_month, failures, retry_at, disabled_reason`;
const ATTEMPT = `account_id, attempt_id, status, amount_nanos, method_id, method_ref, provider, test_mode, payment_ref, failure_code,
          grant_id, tries, refunded_nanos, dispute_status, dispute_nanos, return_open, day_start, month_start, created_at, settled_at`;

const find = statement('recharge_find', `SELECT ${RECHARGE} FROM core.recharge WHERE account_id = $1`);
const save = statement(
  'recharge_save',
  `INSERT INTO core.recharge (${RECHARGE}, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
       ON CONFLICT (account_id) DO UPDATE
      SET enabled = excluded.enabled, trigger_nanos = excluded.trigger_nanos, amount_nanos = excluded.amount_nanos,
          method_id = excluded.method_id, max_per_day = excluded.max_per_day, max_per_month = excluded.max_per_month,
          failures = excluded.failures, retry_at = excluded.retry_at, disabled_reason = excluded.disabled_reason,
          updated_at = excluded.updated_at`,
);
const findOne = statement(
  'recharge_attempt_find',
  `SELECT ${ATTEMPT} FROM core.recharge_attempt WHERE account_id = $1 AND attempt_id = $2`,
);
const findLast = statement(
  'recharge_attempt_last',
  `SELECT ${ATTEMPT} FROM core.recharge_attempt WHERE account_id = $1 ORDER BY created_at DESC, attempt_id DESC LIMIT 1`,
);
const insert = statement(
  'recharge_attempt_insert',
  `INSERT INTO core.recharge_attempt (account_id, attempt_id, status, amount_nanos, method_id, method_ref, provider, test_mode,
                                      tries, day_start, month_start, created_at)
   VALUES ($1, $2, 'open', $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const update = statement(
  'recharge_attempt_update',
  `UPDATE core.recharge_attempt
      SET status = $3, payment_ref = $4, failure_code = $5, grant_id = $6, tries = $7, settled_at = $8, due_at = $9
    WHERE account_id = $1 AND attempt_id = $2`,
);
const count = statement(
  'recharge_count',
  `SELECT (SELECT count(*) FROM core.recharge_attempt a
            WHERE a.account_id = $1 AND a.month_start = $3 AND a.day_start = $2 AND a.status <> 'failed') AS today,
          (SELECT count(*) FROM core.recharge_attempt a
            WHERE a.account_id = $1 AND a.month_start = $3 AND a.status <> 'failed') AS month,
          (SELECT coalesce(sum(a.amount_nanos), 0)::bigint FROM core.recharge_attempt a
            WHERE a.account_id = $1 AND a.month_start = $3 AND a.status <> 'failed') AS nanos,
          c.charge_limit_nanos AS charge_limit
     FROM core.account c
    WHERE c.account_id = $1`,
);
const readWallet = statement(
  'recharge_read_wallet',
  `SELECT account_id, day_start, month_start, day_used_nanos, day_held_nanos, month_used_nanos, month_held_nanos, recharge_due_at,
          recharge_attempt_id
     FROM core.wallet
    WHERE account_id = $1`,
);
const setLimit = statement(
  'recharge_set_limit',
  'UPDATE core.account SET charge_limit_nanos = $2 WHERE account_id = $1',
);

export async function findRecharge(db: Queryable, accountId: string): Promise<RechargeRow | null> {
  return (await db.query<RechargeRow>(find, [accountId])).rows[0] ?? null;
}

export async function saveRecharge(tx: Queryable, row: RechargeRow, nowMs: number): Promise<void> {
  const { account_id, enabled, trigger_nanos, amount_nanos, method_id, max_per_day, max_per_month } = row;
  const what = [account_id, enabled, trigger_nanos, amount_nanos, method_id, max_per_day, max_per_month];
  await tx.query(save, [...what, row.failures, timestamp(row.retry_at), row.disabled_reason, timestamp(nowMs)]);
}

export async function findAttempt(db: Queryable, accountId: string, attemptId: string): Promise<AttemptRow | null> {
  return (await db.query<AttemptRow>(findOne, [accountId, attemptId])).rows[0] ?? null;
}

/** The newest. */
export async function lastAttempt(db: Queryable, accountId: string): Promise<AttemptRow | null> {
  return (await db.query<AttemptRow>(findLast, [accountId])).rows[0] ?? null;
}

export async function insertAttempt(tx: Queryable, row: AttemptRow): Promise<void> {
  const what = [row.account_id, row.attempt_id, row.amount_nanos, row.method_id, row.method_ref, row.provider];
  const when = [timestamp(row.day_start), timestamp(row.month_start), timestamp(row.created_at)];
  await tx.query(insert, [...what, row.test_mode, row.tries, ...when]);
}

/** Writes what may change of it until it is settled; read again at `dueMs` (null: not by the schedule). */
export async function saveAttempt(tx: Queryable, row: AttemptRow, dueMs: number | null = null): Promise<void> {
  const { account_id, attempt_id, status, payment_ref, failure_code, grant_id, tries, settled_at } = row;
  await tx.query(update, [
    account_id,
    attempt_id,
    status,
    payment_ref,
    failure_code,
    grant_id,
    tries,
    ...[timestamp(settled_at), timestamp(dueMs)],
  ]);
}

/** What was charged in the UTC day and month that begin then. */
export async function chargedIn(
  db: Queryable,
  accountId: string,
  { dayStartMs, monthStartMs }: { readonly dayStartMs: number; readonly monthStartMs: number },
): Promise<Charged> {
  const { rows } = await db.query<{ today: bigint; month: bigint; nanos: bigint; charge_limit: bigint }>(count, [
    accountId,
    timestamp(dayStartMs),
    timestamp(monthStartMs),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no account ${accountId}`);
  return {
    today: Number(row.today),
    thisMonth: Number(row.month),
    thisMonthNanos: row.nanos,
    limitNanos: row.charge_limit,
  };
}

/** Without a lock: for who only looks. */
export async function findWallet(db: Queryable, accountId: string): Promise<WalletRow> {
  const { rows } = await db.query<WalletRow>(readWallet, [accountId]);
  if (rows[0] === undefined) throw new Error(`account ${accountId} has no wallet`);
  return rows[0];
}

export async function setChargeLimit(tx: Queryable, accountId: string, nanos: bigint): Promise<void> {
  await tx.query(setLimit, [accountId, nanos]);
}
