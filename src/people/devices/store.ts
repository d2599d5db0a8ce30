// SQL of device codes. Lock order: the row of a code before any wallet.

import type { CapPeriod, CapSetting } from '../../core/callers/key-cap.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';

export type DeviceStatus = 'pending' | 'approved' | 'denied' | 'redeemed';

export interface DeviceRow {
  readonly device_hash: Buffer;
  readonly user_code: string;
  readonly client_name: string;
  readonly remote_address: string;
  readonly scopes: readonly string[];
  readonly created_at: number;
  readonly expires_at: number;
  readonly polled_at: number | null;
  readonly interval_s: number;
  readonly status: DeviceStatus;
  readonly account_id: string | null;
  /** Person, key or session whose word it is. */
  readonly approved_by: string | null;
  readonly granted_scopes: readonly string[] | null;
  readonly key_expires_at: number | null;
  readonly cap_nanos: bigint | null;
  readonly cap_period: CapPeriod | null;
  readonly key_id: string | null;
  readonly sealed_secret: Buffer | null;
  readonly redeemed_at: number | null;
}

/** What a person has said that the device gets. */
export interface Approval {
  readonly accountId: string;
  readonly approvedBy: string;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number | null;
  readonly cap: CapSetting | null;
}

type NewDevice = Pick<
  DeviceRow,
  'device_hash' | 'user_code' | 'client_name' | 'remote_address' | 'scopes' | 'created_at' | 'expires_at' | 'interval_s'
>;

const columns = `d.device_hash, d.user_code, d.client_name, d.remote_address, d.scopes, d.created_at, d.expires_at, d.polled_at,
          d.interval_s, d.status, d.account_id, d.approved_by, d.granted_scopes, d.key_expires_at, d.cap_nanos, d.cap_period,
          d.key_id, d.sealed_secret, d.redeemed_at`;
const insertRow = statement(
  'device_insert',
  `INSERT INTO core.device_code (device_hash, user_code, client_name, remote_address, scopes, created_at, expires_at, interval_s, status)
   VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8, 'pending')
       ON CONFLICT DO NOTHING`,
);
const lockByHash = statement(
  'device_lock',
  `SELECT ${columns} FROM core.device_code d WHERE d.device_hash = $1 FOR UPDATE`,
);
const selectByCode = statement(
  'device_select_by_user_code',
  `SELECT ${columns} FROM core.device_code d WHERE d.user_code = $1`,
);
const updatePolled = statement(
  'device_update_polled',
  'UPDATE core.device_code SET polled_at = $2, interval_s = $3 WHERE device_hash = $1',
);
const updateApproved = statement(
  'device_update_approved',
  `UPDATE core.device_code
      SET status = 'approved', account_id = $2, granted_scopes = $3::text[], key_expires_at = $4, cap_nanos = $5, cap_period = $6,
          approved_by = $7
    WHERE device_hash = $1`,
);
const updateDenied = statement(
  'device_update_denied',
  `UPDATE core.device_code SET status = 'denied' WHERE device_hash = $1`,
);
const updateRedeemed = statement(
  'device_update_redeemed',
  `UPDATE core.device_code SET status = 'redeemed', key_id = $2, sealed_secret = $3, redeemed_at = $4 WHERE device_hash = $1`,
);
const deleteOld = statement('device_delete_old', 'DELETE FROM core.device_code WHERE expires_at <= $1');

/** False: one of its codes is another's. */
export async function insert(db: Queryable, row: NewDevice): Promise<boolean> {
  const { count } = await db.query(insertRow, [
    ...[row.device_hash, row.user_code, row.client_name, row.remote_address, textArray(row.scopes)],
    ...[timestamp(row.created_at), timestamp(row.expires_at), row.interval_s],
  ]);
  return count === 1;
}

/** Locks the row until the end of the transaction. */
export async function lock(tx: Queryable, hash: Buffer): Promise<DeviceRow | null> {
  return (await tx.query<DeviceRow>(lockByHash, [hash])).rows[0] ?? null;
}

export async function findByUserCode(db: Queryable, userCode: string): Promise<DeviceRow | null> {
  return (await db.query<DeviceRow>(selectByCode, [userCode])).rows[0] ?? null;
}

/** The next poll is too soon before `intervalS` have passed. */
export async function markPolled(tx: Queryable, hash: Buffer, nowMs: number, intervalS: number): Promise<void> {
  await tx.query(updatePolled, [hash, timestamp(nowMs), intervalS]);
}

export async function markApproved(
  tx: Queryable,
  hash: Buffer,
  { accountId, approvedBy, scopes, ...key }: Approval,
): Promise<void> {
  const expiresAt = timestamp(key.expiresAtMs);
  await tx.query(updateApproved, [
    ...[hash, accountId, textArray(scopes), expiresAt],
    ...[key.cap?.nanos ?? null, key.cap?.period ?? null, approvedBy],
  ]);
}

export async function markDenied(tx: Queryable, hash: Buffer): Promise<void> {
  await tx.query(updateDenied, [hash]);
}

export async function markRedeemed(
  tx: Queryable,
  hash: Buffer,
  { keyId, sealed }: { readonly keyId: string; readonly sealed: Buffer },
  nowMs: number,
): Promise<void> {
  await tx.query(updateRedeemed, [hash, keyId, sealed, timestamp(nowMs)]);
}

export async function removeOld(db: Queryable, expiredBeforeMs: number): Promise<void> {
  await db.query(deleteOld, [timestamp(expiredBeforeMs)]);
}
