// The calling key as it is under the account's lock: what it may hand out is judged there.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { DeadSecret, KeyEnd } from './record.ts';

export interface LiveCaller {
  readonly keyId: string;
  /** null = all modules. */
  readonly scopes: readonly string[] | null;
  /** When the key ends, whatever secret it was called with; null: never. */
  readonly expiresAtMs: number | null;
  /** False for a secret in its rotation grace. */
  readonly isCurrent: boolean;
  readonly hasSpendCap: boolean;
}

interface CallerRow {
  readonly key_id: string;
  readonly scopes: string[] | null;
  readonly expires_at: number | null;
  readonly is_current: boolean;
  readonly has_spend_cap: boolean;
  readonly ended: KeyEnd | null;
}

const selectCaller = statement(
  'key_select_caller',
  `SELECT k.key_id, k.scopes, k.expires_at, s.is_current, k.spend_cap_nanos IS NOT NULL AS has_spend_cap,
          CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
               WHEN LEAST(s.expires_at, k.expires_at) <= core.clock_now() THEN 'expired' END AS ended
     FROM core.api_secret s, core.api_key k
    WHERE s.account_id = $1 AND s.secret_hash = $2 AND k.account_id = $1 AND k.key_id = s.key_id`,
);

/** Why there is none when the secret has died since it was looked up. */
export async function findCaller(
  db: Queryable,
  accountId: string,
  secretHash: Buffer,
): Promise<LiveCaller | DeadSecret> {
  const { rows } = await db.query<CallerRow>(selectCaller, [accountId, secretHash]);
  const [row] = rows;
  if (row === undefined) return 'unknown';
  if (row.ended !== null) return row.ended;
  return {
    keyId: row.key_id,
    scopes: row.scopes,
    expiresAtMs: row.expires_at,
    isCurrent: row.is_current,
    hasSpendCap: row.has_spend_cap,
  };
}
