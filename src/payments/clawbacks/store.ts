// SQL of core.clawback: refunded or disputed money of a payment, and the credit it was taken from.

import type { GrantRow } from '../../core/wallet/state.ts';
import { int8Array, textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export interface ClawbackRow {
  readonly account_id: string;
  readonly clawback_id: string;
  /** The payment. */
  readonly source: 'topup' | 'recharge';
  readonly source_id: string;
  readonly kind: 'refund' | 'dispute';
  /** Of a dispute: pending is open, done lost, restored won. */
  readonly status: 'pending' | 'done' | 'restored';
  readonly is_ours: boolean;
  readonly amount_nanos: bigint;
  readonly amount_minor: bigint;
  readonly grant_ids: string[];
  readonly grant_nanos: bigint[];
  readonly debt_nanos: bigint;
  readonly failure_code: string | null;
  readonly created_at: number;
}

const COLUMNS = `account_id, clawback_id, source, source_id, kind, status, is_ours, amount_nanos, amount_minor, grant_ids, grant_nanos,
          debt_nanos, failure_code, created_at`;

const insert = statement(
  'clawback_insert',
  `INSERT INTO core.clawback (${COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11::bigint[], $12, $13, $14)`,
);
const ofPayment = statement(
  'clawbacks_of_payment',
  `SELECT ${COLUMNS} FROM core.clawback WHERE account_id = $1 AND source_id = $2 ORDER BY created_at, clawback_id`,
);
const settle = statement(
  'clawback_settle',
  `UPDATE core.clawback SET status = $3, forgiven_nanos = $4, failure_code = $5, settled_at = $6
    WHERE account_id = $1 AND clawback_id = $2`,
);
const openDisputes = statement(
  'clawback_open_disputes',
  `SELECT count(*) AS disputes FROM core.clawback WHERE account_id = $1 AND status = 'pending' AND kind = 'dispute'`,
);
const grantsById = statement(
  'clawback_read_grants',
  `SELECT account_id, grant_id, kind, remaining_nanos, reserved_nanos, expires_at
     FROM core.credit_grant
    WHERE account_id = $1 AND grant_id = ANY($2::text[])`,
);

const grantFor = statement(
  'clawback_grant_for',
  'SELECT grant_id FROM core.credit_grant WHERE account_id = $1 AND source = $2 AND source_id = $3',
);

export async function insertClawback(tx: Queryable, row: ClawbackRow): Promise<void> {
  const { account_id, clawback_id, kind, status, is_ours, amount_nanos, amount_minor } = row;
  const names = [account_id, clawback_id, row.source, row.source_id];
  const what = [...names, kind, status, is_ours, amount_nanos, amount_minor];
  const from = [textArray(row.grant_ids), int8Array(row.grant_nanos), row.debt_nanos];
  await tx.query(insert, [...what, ...from, row.failure_code, timestamp(row.created_at)]);
}

/** Of a payment, by the id of its top-up or recharge, in the order in which they were made. */
export async function clawbacksOf(db: Queryable, accountId: string, sourceId: string): Promise<readonly ClawbackRow[]> {
  return (await db.query<ClawbackRow>(ofPayment, [accountId, sourceId])).rows;
}

export async function settleClawback(
  tx: Queryable,
  { account_id, clawback_id }: ClawbackRow,
  end: { readonly status: 'done' | 'restored'; readonly forgivenNanos: bigint; readonly failureCode: string | null },
  nowMs: number,
): Promise<void> {
  await tx.query(settle, [
    account_id,
    clawback_id,
    ...[end.status, end.forgivenNanos, end.failureCode],
    timestamp(nowMs),
  ]);
}

export async function countOpenDisputes(tx: Queryable, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ disputes: bigint }>(openDisputes, [accountId]);
  return Number(rows[0]?.disputes ?? 0n);
}

/** Spent ones too. */
export async function readGrantsById(tx: Queryable, accountId: string, ids: readonly string[]): Promise<GrantRow[]> {
  return [...(await tx.query<GrantRow>(grantsById, [accountId, textArray(ids)])).rows];
}

/**
 * `absorption`: the grant that went on, in an account that absorbed another, of the other's; null: it had been spent. `restored`: what was
 * given back of a clawback in an account before.
 */
export async function findGrantFor(
  tx: Queryable,
  accountId: string,
  source: 'absorption' | 'restored',
  id: string,
): Promise<string | null> {
  return (await tx.query<{ grant_id: string }>(grantFor, [accountId, source, id])).rows[0]?.grant_id ?? null;
}
