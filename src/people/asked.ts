// Counters of requests in a time window, stored in the database. They are exact across all processes and are never reset early.

import { createHash } from 'node:crypto';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';

export interface Bound {
  readonly times: number;
  readonly windowMs: number;
}

const countOne = statement(
  'asked_count',
  `INSERT INTO core.asked AS a (key_hash, started_at, times) VALUES ($1, $2, 1)
       ON CONFLICT (key_hash) DO UPDATE
      SET times = CASE WHEN a.started_at <= $3 THEN 1 ELSE a.times + 1 END,
          started_at = CASE WHEN a.started_at <= $3 THEN excluded.started_at ELSE a.started_at END
   RETURNING times, started_at`,
);
const deleteOld = statement('asked_delete_old', 'DELETE FROM core.asked WHERE started_at <= $1');

/**
 * Counts that `key` is asked for once more. Answers for how long it is over its bound, in milliseconds; 0: it is not.
 * @param key what is counted, such as `mail to ada@example.org`: only its hash is kept
 */
export async function ask(db: Queryable, key: string, { times, windowMs }: Bound, nowMs: number): Promise<number> {
  const hash = createHash('sha256').update(key).digest('base64url');
  const { rows } = await db.query<{ times: number; started_at: number }>(countOne, [
    ...[hash, timestamp(nowMs)],
    timestamp(nowMs - windowMs),
  ]);
  const [row] = rows;
  return row === undefined || row.times <= times ? 0 : Math.max(1, row.started_at + windowMs - nowMs);
}

export async function forgetAsked(db: Queryable, beforeMs: number): Promise<void> {
  await db.query(deleteOld, [timestamp(beforeMs)]);
}
