// Cache of answers to identical requests of one account, for callers that ask for it: in this process, and encrypted in the database for all.
// Only an exactly equal request hits: an answer to a similar question is a wrong answer.
import { LRUCache } from 'lru-cache';
import type { Sweep } from '../../../core/background/sweeper/sweep.ts';
import { removeOldRows } from '../../../core/background/sweeper/sweep.ts';
import { textArray } from '../../../db/arrays.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { CACHE_BYTES_MAX, CACHED_ANSWERS_MAX, CACHED_BYTES_MAX } from '../limits.ts';

const LABEL = 'ai-cache';

const selectAnswer = statement(
  'ai_cache_read',
  `SELECT c.sealed, (extract(epoch FROM c.expires_at - core.clock_now()) * 1000)::float8 AS "leftMs" FROM ai.cached_answer c
    WHERE c.account_id = $1 AND c.digest = $2 AND c.expires_at > core.clock_now()`,
);
const countAnswers = statement(
  'ai_cache_count',
  `SELECT count(*)::int AS kept FROM (SELECT 1 FROM ai.cached_answer c WHERE c.account_id = $1 LIMIT $2) AS found`,
);
const upsertAnswer = statement(
  'ai_cache_write',
  `INSERT INTO ai.cached_answer AS c (account_id, digest, sealed, expires_at)
   VALUES ($1, $2, $3, core.clock_now() + $4 * interval '1 millisecond')
       ON CONFLICT (account_id, digest) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at`,
);
const findOld = statement(
  'ai_cache_find_old',
  `/* fan-out: cached answers past their time */
   SELECT c.account_id, c.digest AS id FROM ai.cached_answer c WHERE c.expires_at <= core.clock_now() ORDER BY c.expires_at LIMIT $1`,
);
const removeOld = statement(
  'ai_cache_remove_old',
  'DELETE FROM ai.cached_answer WHERE account_id = $1 AND digest = ANY($2::text[]) AND expires_at <= core.clock_now()',
);

export interface Found {
  /** As it was kept. */
  readonly text: string;
  readonly layer: 'l1_hit' | 'l2_hit';
}

export class AnswerCache {
  readonly #core: Pick<Services, 'db' | 'secrets' | 'log'>;
  readonly #near = new LRUCache<string, string>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: (text) => 2 * text.length + 200,
  });

  constructor(core: Pick<Services, 'db' | 'secrets' | 'log'>) {
    this.#core = core;
  }

  async find(accountId: string, digest: string): Promise<Found | null> {
    const near = this.#near.get(nameOf(accountId, digest));
    if (near !== undefined) return { text: near, layer: 'l1_hit' };
    const { db, secrets } = this.#core;
    const { rows } = await db.query<{ sealed: Buffer; leftMs: number }>(selectAnswer, [accountId, digest]);
    const [row] = rows;
    if (row === undefined) return null;
    const text = secrets.decrypt(LABEL, nameOf(accountId, digest), row.sealed);
    this.#keepNear(accountId, digest, text, row.leftMs);
    return { text, layer: 'l2_hit' };
  }

  /** Of a complete answer; one that is too long is not kept. What cannot be written is asked of a vendor again, and no more than that. */
  async keep(accountId: string, digest: string, text: string, ttlMs: number): Promise<void> {
    if (Buffer.byteLength(text) > CACHED_BYTES_MAX) return;
    this.#keepNear(accountId, digest, text, ttlMs);
    await this.#write(accountId, digest, text, ttlMs).catch((err: unknown) => {
      this.#core.log.warn({ err }, 'an answer could not be kept for the same request again');
    });
  }

  async #write(accountId: string, digest: string, text: string, ttlMs: number): Promise<void> {
    const { db, secrets } = this.#core;
    const { rows } = await db.query<{ kept: number }>(countAnswers, [accountId, CACHED_ANSWERS_MAX]);
    if (rows[0]?.kept === CACHED_ANSWERS_MAX) return;
    const sealed = secrets.encrypt(LABEL, nameOf(accountId, digest), text);
    await db.query(upsertAnswer, [accountId, digest, sealed, ttlMs]);
  }

  #keepNear(accountId: string, digest: string, text: string, ttlMs: number): void {
    if (ttlMs >= 1) this.#near.set(nameOf(accountId, digest), text, { ttl: Math.floor(ttlMs) });
  }
}

function nameOf(accountId: string, digest: string): string {
  return `${accountId} ${digest}`;
}

export function cacheSweep({ db }: Pick<Services, 'db'>): Sweep {
  const keys = (rows: readonly { readonly id: string }[]) => [textArray(rows.map(({ id }) => id))];
  return {
    name: 'ai.cache',
    intervalMs: 60_000,
    run: removeOldRows<{ account_id: string; id: string }>(db, { find: findOld, remove: removeOld, keys }),
  };
}
