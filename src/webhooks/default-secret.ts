// Secret that signs messages to a URL given for one piece of work, such as a job's webhook_url. An account has one, derived from the server's
// secret, so only its number of rotations is stored.

import type { Secrets } from '../core/secrets/secrets.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { DAY_MS } from '../lib/time.ts';

const SECRET_BYTES = 32;
/** How long the one before signs beside a new one (contract of webhooks). */
const PREVIOUS_MS = DAY_MS;

const select = statement(
  'webhook_read_secret',
  `SELECT s.generation, s.rotated_at, core.clock_now() AS now
     FROM core.wallet w LEFT JOIN core.webhook_secret s ON s.account_id = $1
    WHERE w.account_id = $1`,
);
const upsert = statement(
  'webhook_rotate_secret',
  `INSERT INTO core.webhook_secret AS s (account_id, generation, rotated_at) VALUES ($1, 1, $2)
       ON CONFLICT (account_id) DO UPDATE SET generation = s.generation + 1, rotated_at = excluded.rotated_at`,
);

interface SecretRow {
  readonly generation: number | null;
  readonly rotated_at: number | null;
  readonly now: number;
}

export interface DefaultSecret {
  /** `whsec_` and base64. */
  readonly current: string;
  /** Signs too, until `previousUntilMs`; null when there is none. */
  readonly previous: string | null;
  readonly previousUntilMs: number | null;
}

export async function defaultSecret(db: Queryable, secrets: Secrets, accountId: string): Promise<DefaultSecret> {
  const [row] = (await db.query<SecretRow>(select, [accountId])).rows;
  const generation = row?.generation ?? 0;
  const untilMs = row?.rotated_at == null ? null : row.rotated_at + PREVIOUS_MS;
  const isSigning = row !== undefined && untilMs !== null && untilMs > row.now;
  return {
    current: secretOf(secrets, accountId, generation),
    previous: isSigning ? secretOf(secrets, accountId, generation - 1) : null,
    previousUntilMs: isSigning ? untilMs : null,
  };
}

/** Replaces it; the one before goes on signing for a day. */
export async function rotateDefaultSecret(tx: Transaction, accountId: string, nowMs: number): Promise<void> {
  await tx.query(upsert, [accountId, timestamp(nowMs)]);
}

function secretOf(secrets: Secrets, accountId: string, generation: number): string {
  return `whsec_${secrets.derive('webhook-default', SECRET_BYTES, `${accountId}\n${generation}`).toString('base64')}`;
}
