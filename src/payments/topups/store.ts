// SQL of core.topup: one row per top-up. Amount, currency, rate and charge never change once written.
import { dueTable } from '../../core/background/due-table.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Currency } from '../../vendors/payments/port.ts';
import { LEASE_MS } from '../at-provider.ts';
import type { Credited, Returns } from '../clawbacks/follow.ts';

export type TopupStatus = 'pending' | 'review' | 'succeeded' | 'failed' | 'expired';

export interface TopupRow extends Returns {
  readonly account_id: string;
  readonly topup_id: string;
  readonly status: TopupStatus;
  readonly amount_nanos: bigint;
  readonly currency: Currency;
  readonly charge_minor: bigint;
  readonly fx_rate_nanos: bigint;
  readonly provider: string;
  readonly test_mode: boolean;
  readonly save_method: boolean;
  readonly return_url: string | null;
  readonly checkout_ref: string | null;
  readonly checkout_url: string | null;
  readonly payment_ref: string | null;
  readonly failure_code: string | null;
  readonly review_reason: 'provider' | 'mismatch' | 'amount' | null;
  readonly review_verdict: 'approved' | 'rejected' | null;
  readonly grant_id: string | null;
  readonly credited_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number;
  readonly attempt: number;
}

const COLUMNS = `account_id, topup_id, status, amount_nanos, currency, charge_minor, fx_rate_nanos, provider, test_mode, save_method,
          return_url, checkout_ref, checkout_url, payment_ref, failure_code, review_reason, review_verdict, grant_id, credited_at,
          refunded_nanos, dispute_status, dispute_nanos, return_open, created_at, updated_at, expires_at, attempt`;

const insert = statement(
  'topup_insert',
  `INSERT INTO core.topup (account_id, topup_id, status, amount_nanos, currency, charge_minor, fx_rate_nanos, provider, test_mode,
                           save_method, return_url, created_at, updated_at, expires_at, due_at)
   VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)`,
);
const find = statement('topup_find', `SELECT ${COLUMNS} FROM core.topup WHERE account_id = $1 AND topup_id = $2`);
const page = statement(
  'topup_page',
  `SELECT ${COLUMNS} FROM core.topup
    WHERE account_id = $1 AND topup_id < $2 AND ($4::text IS NULL OR status = $4)
    ORDER BY topup_id DESC
    LIMIT $3`,
);
const pageInReview = statement(
  'topup_page_in_review',
  `/* fan-out: what waits for the operator, of all accounts */
   SELECT ${COLUMNS} FROM core.topup
    WHERE status = 'review' AND topup_id < $1
    ORDER BY topup_id DESC
    LIMIT $2`,
);
const countPending = statement(
  'topup_count_pending',
  `SELECT count(*) AS pending FROM core.topup WHERE account_id = $1 AND status = 'pending' AND expires_at > $2`,
);
const update = statement(
  'topup_update',
  `UPDATE core.topup
      SET status = $3, checkout_ref = $4, checkout_url = $5, payment_ref = $6, failure_code = $7, review_reason = $8,
          review_verdict = $9, grant_id = $10, credited_at = $11, refunded_nanos = $12, dispute_status = $13, dispute_nanos = $14,
          return_open = $15, updated_at = $16
    WHERE account_id = $1 AND topup_id = $2`,
);

/** Longer than a provider's answer takes, retries included. */

export const topupDue = dueTable({ table: 'core.topup', key: 'topup_id', leaseMs: LEASE_MS });

export const jobOf = ({ account_id, topup_id, attempt }: TopupRow) => ({
  accountId: account_id,
  id: topup_id,
  attempt,
});

export type NewTopup = Pick<
  TopupRow,
  | 'account_id'
  | 'topup_id'
  | 'amount_nanos'
  | 'currency'
  | 'charge_minor'
  | 'fx_rate_nanos'
  | 'provider'
  | 'test_mode'
  | 'save_method'
  | 'return_url'
  | 'created_at'
  | 'expires_at'
>;

export async function insertTopup(tx: Queryable, row: NewTopup, dueMs: number): Promise<void> {
  const { account_id, topup_id, amount_nanos, currency, charge_minor, fx_rate_nanos } = row;
  const what = [account_id, topup_id, amount_nanos, currency, charge_minor, fx_rate_nanos];
  const how = [row.provider, row.test_mode, row.save_method, row.return_url];
  await tx.query(insert, [...what, ...how, timestamp(row.created_at), timestamp(row.expires_at), timestamp(dueMs)]);
}

export async function findTopup(db: Queryable, accountId: string, topupId: string): Promise<TopupRow | null> {
  return (await db.query<TopupRow>(find, [accountId, topupId])).rows[0] ?? null;
}

/** What its clawbacks are of; null: it is not credited. */
export function creditOf({ topup_id, grant_id, credited_at, ...row }: TopupRow): Credited | null {
  return grant_id === null || credited_at === null
    ? null
    : { ...row, source: 'topup', source_id: topup_id, grant_id, credited_at };
}

/** Newest first, before `beforeId` (null: from the newest). */
export async function listTopups(
  db: Queryable,
  accountId: string,
  beforeId: string | null,
  limit: number,
  status: TopupStatus | null,
): Promise<readonly TopupRow[]> {
  return (await db.query<TopupRow>(page, [accountId, beforeId ?? '~', limit, status])).rows;
}

/** Those under review, of all accounts, newest first. */
export async function listTopupsInReview(
  db: Queryable,
  beforeId: string | null,
  limit: number,
): Promise<readonly TopupRow[]> {
  return (await db.query<TopupRow>(pageInReview, [beforeId ?? '~', limit])).rows;
}

export async function pendingTopups(tx: Queryable, accountId: string, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ pending: bigint }>(countPending, [accountId, timestamp(nowMs)]);
  return Number(rows[0]?.pending ?? 0n);
}

/** Writes what may change of it. */
export async function saveTopup(tx: Queryable, row: TopupRow): Promise<void> {
  const { account_id, topup_id, status, checkout_ref, checkout_url, payment_ref, failure_code } = row;
  const review = [row.review_reason, row.review_verdict];
  const credited = [row.grant_id, timestamp(row.credited_at)];
  const back = [row.refunded_nanos, row.dispute_status, row.dispute_nanos, row.return_open, timestamp(row.updated_at)];
  const state = [account_id, topup_id, status, checkout_ref, checkout_url, payment_ref, failure_code];
  await tx.query(update, [...state, ...review, ...credited, ...back]);
}
