// SQL of core.payment_setup: provider pages on which a payer saves a payment method. A row is deleted once it is no longer checked.

import { dueTable } from '../../core/background/due-table.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { LEASE_MS } from '../at-provider.ts';

export interface SetupRow {
  readonly account_id: string;
  readonly setup_id: string;
  readonly provider: string;
  readonly test_mode: boolean;
  readonly status: 'open' | 'succeeded' | 'failed' | 'expired';
  readonly return_url: string | null;
  readonly checkout_ref: string | null;
  readonly checkout_url: string | null;
  readonly method_id: string | null;
  readonly created_at: number;
  readonly expires_at: number;
}

export type NewSetup = Omit<SetupRow, 'status' | 'checkout_ref' | 'checkout_url' | 'method_id'>;

const COLUMNS = `account_id, setup_id, provider, test_mode, status, return_url, checkout_ref, checkout_url, method_id, created_at, expires_at`;

const insert = statement(
  'payment_setup_insert',
  `INSERT INTO core.payment_setup (account_id, setup_id, provider, test_mode, status, return_url, created_at, expires_at, due_at)
   VALUES ($1, $2, $3, $4, 'open', $5, $6, $7, $8)`,
);
const find = statement(
  'payment_setup_find',
  `SELECT ${COLUMNS} FROM core.payment_setup WHERE account_id = $1 AND setup_id = $2`,
);
const countOpen = statement(
  'payment_setup_count_open',
  `SELECT count(*) AS open FROM core.payment_setup WHERE account_id = $1 AND status = 'open' AND expires_at > $2`,
);
const save = statement(
  'payment_setup_save',
  `UPDATE core.payment_setup SET status = $3, checkout_ref = $4, checkout_url = $5, method_id = $6
    WHERE account_id = $1 AND setup_id = $2`,
);
const remove = statement(
  'payment_setup_delete',
  'DELETE FROM core.payment_setup WHERE account_id = $1 AND setup_id = $2',
);

export const setupDue = dueTable({ table: 'core.payment_setup', key: 'setup_id', leaseMs: LEASE_MS });

export async function insertSetup(tx: Queryable, row: NewSetup, dueMs: number): Promise<void> {
  const what = [row.account_id, row.setup_id, row.provider, row.test_mode, row.return_url];
  await tx.query(insert, [...what, timestamp(row.created_at), timestamp(row.expires_at), timestamp(dueMs)]);
}

export async function findSetup(db: Queryable, accountId: string, setupId: string): Promise<SetupRow | null> {
  return (await db.query<SetupRow>(find, [accountId, setupId])).rows[0] ?? null;
}

export async function openSetups(tx: Queryable, accountId: string, nowMs: number): Promise<number> {
  const { rows } = await tx.query<{ open: bigint }>(countOpen, [accountId, timestamp(nowMs)]);
  return Number(rows[0]?.open ?? 0n);
}

export async function saveSetup(tx: Queryable, row: SetupRow): Promise<void> {
  const { account_id, setup_id, status, checkout_ref, checkout_url, method_id } = row;
  await tx.query(save, [account_id, setup_id, status, checkout_ref, checkout_url, method_id]);
}

export async function deleteSetup(tx: Queryable, { account_id, setup_id }: SetupRow): Promise<void> {
  await tx.query(remove, [account_id, setup_id]);
}
