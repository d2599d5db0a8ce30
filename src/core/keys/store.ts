// SQL of keys and their secrets. Changes of a key require a lock on the account's wallet row (core/accounts). A key has one current secret and
// earlier ones with an expiry; those that expired before the last rotation are deleted.
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { startOfDay, startOfMonth } from '../../lib/time.ts';
import { CAP_COLUMNS, type CapColumns, type CapSetting, capOf, type KeyCap } from '../callers/key-cap.ts';
import { holdRights } from '../callers/rights.ts';
import type { MintedSecret } from './api-key.ts';

export type KeyStatus = 'active' | 'rotating' | 'revoked' | 'expired';

export interface StoredKey {
  readonly keyId: string;
  readonly projectId: string;
  readonly name: string | null;
  /** null = all modules. */
  readonly scopes: readonly string[] | null;
  readonly status: KeyStatus;
  readonly prefix: string;
  readonly last4: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly expiresAtMs: number | null;
  /** When the last earlier secret dies; null unless the key is rotating. */
  readonly rotatingUntilMs: number | null;
  readonly revokedAtMs: number | null;
  readonly revokedReason: string | null;
  readonly flaggedAtMs: number | null;
  /** With what counts against it now; null: none. */
  readonly cap: KeyCap | null;
}

interface KeyRow extends CapColumns {
  readonly key_id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly scopes: string[] | null;
  readonly prefix: string;
  readonly last4: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_used_at: number | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly revoked_reason: string | null;
  readonly flagged_at: number | null;
  readonly previous_until: number | null;
  readonly status: KeyStatus;
  readonly now: number;
}

const status = `CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
               WHEN k.expires_at <= core.clock_now() THEN 'expired'
               WHEN p.previous_until IS NOT NULL THEN 'rotating'
               ELSE 'active' END`;
const columns = `k.key_id, k.project_id, k.name, k.scopes, k.prefix, k.last4, k.created_at, k.updated_at, k.last_used_at,
          k.expires_at, k.revoked_at, k.revoked_reason, k.flagged_at, p.previous_until, ${status} AS status,
          ${CAP_COLUMNS}, core.clock_now() AS now`;
// A key that was revoked 30 days ago is gone, whether it has been swept or not.
const tables = `core.api_key k
     LEFT JOIN LATERAL (SELECT max(s.expires_at) AS previous_until FROM core.api_secret s
                         WHERE s.account_id = $1 AND s.key_id = k.key_id AND NOT s.is_current
                           AND s.expires_at > core.clock_now()) p ON true
    WHERE k.account_id = $1 AND (k.revoked_at IS NULL OR k.revoked_at > core.clock_now() - interval '30 days')`;

const selectKey = statement('key_select', `SELECT ${columns} FROM ${tables} AND k.key_id = $2`);
const selectKeys = statement(
  'key_select_page',
  `SELECT ${columns}
     FROM ${tables}
      AND ($2::text IS NULL OR k.key_id < $2::text) AND ($4::text IS NULL OR $4 = ${status})
    ORDER BY k.key_id DESC
    LIMIT $3::int`,
);
const countUsable = statement(
  'key_count_usable',
  `SELECT count(*) AS keys FROM core.api_key
    WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > core.clock_now())`,
);
const insertKeyRow = statement(
  'key_insert',
  `INSERT INTO core.api_key (account_id, key_id, project_id, name, scopes, prefix, last4, created_at, updated_at, expires_at,
                             spend_cap_nanos, spend_cap_period)
   VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8, $8, $9, $10, $11)`,
);
const insertSecretRow = statement(
  'key_insert_secret',
  `INSERT INTO core.api_secret (secret_hash, account_id, key_id, is_current, created_at) VALUES ($1, $2, $3, true, $4)`,
);
const updateFields = statement(
  'key_update_fields',
  `UPDATE core.api_key SET name = $3, scopes = $4::text[], updated_at = $5 WHERE account_id = $1 AND key_id = $2`,
);
const updateSecretText = statement(
  'key_update_secret_text',
  `UPDATE core.api_key SET prefix = $3, last4 = $4, updated_at = $5 WHERE account_id = $1 AND key_id = $2`,
);
const updateRevoked = statement(
  'key_update_revoked',
  `UPDATE core.api_key SET revoked_at = $4, revoked_reason = $3, updated_at = $4 WHERE account_id = $1 AND key_id = $2`,
);
const updateFlagged = statement(
  'key_update_flagged',
  `UPDATE core.api_key SET flagged_at = $3, updated_at = $3 WHERE account_id = $1 AND key_id = $2`,
);
const deleteEndedSecrets = statement(
  'key_delete_ended_secrets',
  `DELETE FROM core.api_secret WHERE account_id = $1 AND key_id = $2 AND expires_at <= $3`,
);
const retireCurrentSecret = statement(
  'key_retire_secret',
  `UPDATE core.api_secret SET is_current = false, expires_at = $3 WHERE account_id = $1 AND key_id = $2 AND is_current`,
);
const endEarlierSecrets = statement(
  'key_end_earlier_secrets',
  `UPDATE core.api_secret SET expires_at = $3 WHERE account_id = $1 AND key_id = $2 AND NOT is_current AND expires_at > $3`,
);
const countEarlierSecrets = statement(
  'key_count_earlier_secrets',
  `SELECT count(*) AS secrets FROM core.api_secret
    WHERE account_id = $1 AND key_id = $2 AND NOT is_current AND expires_at > core.clock_now()`,
);

const keyIdPattern = /^key_[0-9A-Za-z]{20,40}$/;

/** What no key of ours can be named is not looked up: such text may not even be valid in PostgreSQL. */
export async function findKey(db: Queryable, accountId: string, keyId: string): Promise<StoredKey | null> {
  if (!keyIdPattern.test(keyId)) return null;
  const { rows } = await db.query<KeyRow>(selectKey, [accountId, keyId]);
  return rows[0] === undefined ? null : storedKey(rows[0]);
}

/** Newest first, those before `beforeId` and with `status` (null: all); `limit` null means no limit. */
export async function listKeys(
  db: Queryable,
  accountId: string,
  beforeId: string | null = null,
  limit: number | null = null,
  status: KeyStatus | null = null,
): Promise<StoredKey[]> {
  const { rows } = await db.query<KeyRow>(selectKeys, [accountId, beforeId, limit, status]);
  return rows.map(storedKey);
}

/** Keys that are neither revoked nor expired. */
export async function countKeys(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ keys: bigint }>(countUsable, [accountId]);
  return Number(rows[0]?.keys ?? 0n);
}

export interface KeyFields {
  readonly keyId: string;
  readonly projectId: string;
  readonly name: string | null;
  readonly scopes: readonly string[] | null;
  readonly expiresAtMs: number | null;
  readonly cap: CapSetting | null;
}

export async function insertKey(
  tx: Transaction,
  accountId: string,
  key: KeyFields,
  minted: MintedSecret,
  nowMs: number,
): Promise<void> {
  const expiresAt = timestamp(key.expiresAtMs);
  const own = [accountId, key.keyId, key.projectId, key.name, arrayOf(key.scopes)];
  await Promise.all([
    tx.query(insertKeyRow, [
      ...own,
      minted.prefix,
      minted.last4,
      timestamp(nowMs),
      expiresAt,
      key.cap?.nanos ?? null,
      key.cap?.period ?? null,
    ]),
    tx.query(insertSecretRow, [minted.hash, accountId, key.keyId, timestamp(nowMs)]),
  ]);
}

/** Makes `minted` the current secret; the one before lives until `endsAtMs`. When that is now, all earlier ones end with it. */
export async function replaceSecret(
  tx: Transaction,
  accountId: string,
  keyId: string,
  minted: MintedSecret,
  endsAtMs: number,
  nowMs: number,
): Promise<void> {
  const now = timestamp(nowMs);
  await Promise.all([
    holdRights(tx, accountId),
    tx.query(deleteEndedSecrets, [accountId, keyId, now]),
    tx.query(retireCurrentSecret, [accountId, keyId, timestamp(endsAtMs)]),
    endsAtMs > nowMs ? null : tx.query(endEarlierSecrets, [accountId, keyId, now]),
    tx.query(insertSecretRow, [minted.hash, accountId, keyId, now]),
    tx.query(updateSecretText, [accountId, keyId, minted.prefix, minted.last4, now]),
  ]);
}

export async function countEarlier(tx: Transaction, accountId: string, keyId: string): Promise<number> {
  const { rows } = await tx.query<{ secrets: bigint }>(countEarlierSecrets, [accountId, keyId]);
  return Number(rows[0]?.secrets ?? 0n);
}

export async function updateKeyFields(
  tx: Transaction,
  accountId: string,
  keyId: string,
  fields: Pick<KeyFields, 'name' | 'scopes'>,
  nowMs: number,
): Promise<void> {
  await holdRights(tx, accountId);
  await tx.query(updateFields, [accountId, keyId, fields.name, arrayOf(fields.scopes), timestamp(nowMs)]);
}

/** Its secrets stay: who sends one is told that the key was revoked. */
export async function markRevoked(tx: Transaction, accountId: string, keyId: string, reason: string, nowMs: number) {
  await holdRights(tx, accountId);
  await tx.query(updateRevoked, [accountId, keyId, reason, timestamp(nowMs)]);
}

export async function markFlagged(tx: Transaction, accountId: string, keyId: string, nowMs: number): Promise<void> {
  await tx.query(updateFlagged, [accountId, keyId, timestamp(nowMs)]);
}

function arrayOf(texts: readonly string[] | null): Buffer | null {
  return texts === null ? null : textArray(texts);
}

function storedKey(row: KeyRow): StoredKey {
  return {
    keyId: row.key_id,
    projectId: row.project_id,
    name: row.name,
    scopes: row.scopes,
    status: row.status,
    prefix: row.prefix,
    last4: row.last4,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    lastUsedAtMs: row.last_used_at,
    expiresAtMs: row.expires_at,
    // A key that ends takes its earlier secrets with it.
    rotatingUntilMs:
      row.status === 'rotating' ? Math.min(row.previous_until ?? 0, row.expires_at ?? Number.MAX_VALUE) : null,
    revokedAtMs: row.revoked_at,
    revokedReason: row.revoked_reason,
    flaggedAtMs: row.flagged_at,
    cap: capOf(row, { day_start: startOfDay(row.now), month_start: startOfMonth(row.now) }),
  };
}
