// Registry of live processes by heartbeat, and the wait after which no process can still have a dropped key in its cache.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

/** For so long a process answers with a key as it was when it read it. */
export const KEY_CACHE_MS = 1_000;
// A timer may fire a little early.
const TIMER_MARGIN_MS = 5;

const beat = statement(
  'process_beat',
  `INSERT INTO core.process (process_id, role, vendors_digest, started_at, seen_at) VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp())
       ON CONFLICT (process_id) DO UPDATE SET seen_at = excluded.seen_at`,
);
const countOthers = statement(
  'process_count_others',
  `SELECT count(*) AS others FROM core.process WHERE process_id <> $1 AND NOT starts_with(process_id, $2) AND seen_at > clock_timestamp() - interval '3 minutes'`,
);
const listAlive = statement(
  'process_list_alive',
  `SELECT p.process_id, p.role, p.started_at, p.seen_at
     FROM core.process p
    WHERE p.seen_at > clock_timestamp() - interval '3 minutes'
    ORDER BY p.started_at, p.process_id
    LIMIT 500`,
);
const remove = statement(
  'process_remove',
  `DELETE FROM core.process WHERE process_id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
);

export interface LiveProcess {
  readonly process_id: string;
  readonly roles: readonly string[];
  readonly started_at: number;
  readonly seen_at: number;
}

/** Those of the deployment that were seen in the last three minutes, the oldest first. */
export async function liveProcesses(db: Queryable): Promise<readonly LiveProcess[]> {
  const { rows } = await db.query<Omit<LiveProcess, 'roles'> & { readonly role: string }>(listAlive, []);
  return rows.map(({ role, ...each }) => ({ ...each, roles: role.split(' ') }));
}

export class ProcessRegistry {
  readonly id: string;
  readonly #db: Database;
  readonly #roles: readonly string[];
  readonly #group: string;
  readonly #vendorsDigest: string;

  /**
   * `vendorsDigest`: of the file of vendors that it works with. `group`: begins the ids of the processes that are told of a dropped key;
   * this one alone when absent.
   */
  constructor(db: Database, id: string, roles: readonly string[], vendorsDigest = '', group = id) {
    this.#db = db;
    this.id = id;
    this.#roles = roles;
    this.#vendorsDigest = vendorsDigest;
    this.#group = group;
  }

  /** Registers before the first call is served, then every few seconds. */
  async beat(): Promise<void> {
    await this.#db.query(beat, [this.id, this.#roles.join(' '), this.#vendorsDigest]);
  }

  async leave(): Promise<void> {
    await this.#db.query(remove, [this.id]);
  }

  /**
   * Resolves once no other process can act on a key dropped here: at once when there is none but those of the group, else when look-ups
   * remembered elsewhere have passed their second. One that could not beat for a while may still serve calls: it counts for
   * minutes, which costs a needless second at most. `hereToo`: nothing was dropped here either.
   */
  async keyDropInForce({ hereToo = false }: { readonly hereToo?: boolean } = {}): Promise<void> {
    const { rows } = await this.#db.query<{ others: bigint }>(countOthers, [this.id, `${this.#group}-`]);
    if (hereToo || (rows[0]?.others ?? 0n) > 0n) await sleep(KEY_CACHE_MS + TIMER_MARGIN_MS);
  }
}
