// Rate limit per host: one request a second (WEB_HOST_INTERVAL_MS), over all processes and accounts. A request reserves the host's next slot in
// the database and waits for it; it does not reserve a slot that is too far away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sweep } from '../../../core/background/sweeper/sweep.ts';
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { HOST_WAITING_MAX, TURN_WAIT_MS } from '../limits.ts';
import { problem } from '../problems.ts';

const NOW_MS = '(extract(epoch FROM core.clock_now()) * 1000)::bigint';
// A table of no account: it lies whole on one node.
const takeTurn = statement(
  'web_take_turn',
  `INSERT INTO web.host AS h (host, next_ms) VALUES ($1, ${NOW_MS} + $2::int)
   ON CONFLICT (host) DO UPDATE SET next_ms = greatest(h.next_ms + $2::int, excluded.next_ms)
     WHERE h.next_ms <= excluded.next_ms - $2::int + $3::int
   RETURNING (h.next_ms - $2::int - ${NOW_MS})::float8 AS "waitMs"`,
);
const deletePast = statement(
  'web_delete_past_hosts',
  `DELETE FROM web.host WHERE host IN (SELECT h.host FROM web.host h WHERE h.next_ms < ${NOW_MS} - 60000 LIMIT $1)`,
);
const DELETED_PER_RUN = 5_000;

export class Pace {
  readonly #db: Database;
  readonly #everyMs: number;
  readonly #waiting = new Map<string, number>();

  constructor(db: Database, everyMs: number) {
    this.#db = db;
    this.#everyMs = everyMs;
  }

  /**
   * Waits for the host's next turn. `delayMs`: what its robots.txt asks for between two requests. Throws RATE_LIMITED when the turn is too far
   * away, or the account has too many calls that wait for this host.
   */
  async turn(accountId: string, host: string, delayMs: number, signal: AbortSignal): Promise<void> {
    const everyMs = Math.max(this.#everyMs, delayMs);
    if (everyMs === 0) return;
    const own = `${accountId} ${host}`;
    const waiting = this.#waiting.get(own) ?? 0;
    if (waiting >= HOST_WAITING_MAX) throw busy(host, 'account', everyMs * waiting);
    this.#waiting.set(own, waiting + 1);
    try {
      const { rows } = await this.#db.query<{ waitMs: number }>(takeTurn, [host, everyMs, TURN_WAIT_MS]);
      const waitMs = rows[0]?.waitMs;
      if (waitMs === undefined) throw busy(host, 'host', TURN_WAIT_MS);
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    } finally {
      const left = (this.#waiting.get(own) ?? 1) - 1;
      if (left > 0) this.#waiting.set(own, left);
      else this.#waiting.delete(own);
    }
  }
}

function busy(host: string, detail: 'account' | 'host', retryAfterMs: number) {
  const message = `Too many requests wait for ${host}: it is asked once a second.`;
  return problem('RATE_LIMITED', { detail, message, retryAfterMs });
}

export function hostSweep(db: Database): Sweep {
  return {
    name: 'web.hosts',
    intervalMs: 60_000,
    run: async () => (await db.query(deletePast, [DELETED_PER_RUN])).count === DELETED_PER_RUN,
  };
}
