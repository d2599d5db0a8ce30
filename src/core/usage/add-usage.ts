// Adds to the hourly usage. The lanes and the meters of all processes lock the rows in one order, so they never deadlock.
import { int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { HOUR_MS } from '../../lib/time.ts';

export interface UsageAdded {
  readonly accountId: string;
  /** Any moment of its hour. */
  readonly atMs: number;
  readonly capability: string;
  readonly keyId: string;
  readonly requests: bigint;
  readonly errors: bigint;
  readonly units: bigint;
  readonly spendNanos: bigint;
}

const upsertUsage = statement(
  'usage_upsert',
  `INSERT INTO core.usage_hour AS h (account_id, hour, capability, key_id, request_count, error_count, units, spend_nanos)
   SELECT w.account_id, u.hour, u.capability, u.key_id, u.requests, u.errors, u.units, u.spend
     FROM core.wallet w, unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
          u(account_id, hour, capability, key_id, requests, errors, units, spend)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, hour, capability, key_id) DO UPDATE
      SET request_count = h.request_count + excluded.request_count,
          error_count = h.error_count + excluded.error_count,
          units = h.units + excluded.units,
          spend_nanos = h.spend_nanos + excluded.spend_nanos`,
);

/** Sends it at once; no two of `added` may be of the same account, hour, capability and key. */
export function addUsage(db: Queryable, added: readonly UsageAdded[]): Promise<unknown> {
  if (added.length === 0) return Promise.resolve();
  const rows = added.toSorted(usageOrder);
  return db.query(upsertUsage, [
    textArray([...new Set(rows.map((row) => row.accountId))]),
    textArray(rows.map((row) => row.accountId)),
    timestampArray(rows.map((row) => Math.floor(row.atMs / HOUR_MS) * HOUR_MS)),
    textArray(rows.map((row) => row.capability)),
    textArray(rows.map((row) => row.keyId)),
    int8Array(rows.map((row) => row.requests)),
    int8Array(rows.map((row) => row.errors)),
    int8Array(rows.map((row) => row.units)),
    int8Array(rows.map((row) => row.spendNanos)),
  ]);
}

function usageOrder(a: UsageAdded, b: UsageAdded): number {
  return compare(a.accountId, b.accountId) || compare(a.capability, b.capability) || compare(a.keyId, b.keyId);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
