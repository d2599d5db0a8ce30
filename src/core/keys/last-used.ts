// Updates last_used_at of the keys that this process has seen, to the minute and at most once a minute per key.

import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Sweep } from '../background/sweeper/sweep.ts';
import { clockNow } from '../database-clock.ts';
import type { KeyRing } from './ring.ts';

const MINUTE_MS = 60_000;
// As many accounts as a lane commit.
const ACCOUNTS_PER_STATEMENT = 64;

// A row that somebody changes right now is left for the next time: nobody waits for a figure.
const updateLastUsed = statement(
  'key_update_last_used',
  `WITH due AS MATERIALIZED (
     SELECT k.account_id, k.key_id
       FROM core.api_key k
      WHERE k.account_id = ANY($1::text[]) AND k.key_id = ANY($2::text[])
        AND (k.last_used_at IS NULL OR k.last_used_at < $3)
        FOR UPDATE SKIP LOCKED)
   UPDATE core.api_key AS k SET last_used_at = $3
     FROM due
    WHERE k.account_id = ANY($1::text[]) AND due.account_id = ANY($1::text[])
      AND k.account_id = due.account_id AND k.key_id = due.key_id`,
);

const FLUSH_EVERY_MS = 5_000;

interface Options {
  readonly db: Database;
  readonly keys: KeyRing;
}

/** Runs on every process: each knows only the keys that it has seen. */
export function lastUsedSweep(options: Options): Sweep {
  const lastUsed = new LastUsed(options);
  return {
    name: 'keys.last_used',
    intervalMs: FLUSH_EVERY_MS,
    perProcess: true,
    run: async () => {
      await lastUsed.flush();
      return false;
    },
  };
}

export class LastUsed {
  readonly #options: Options;
  /** Seen and not written yet, by key id. */
  readonly #waiting = new Map<string, { accountId: string; keyId: string }>();
  #minuteMs = 0;
  readonly #writtenThisMinute = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Call it every few seconds, and once at the end. What could not be written stays for the next time. */
  async flush(): Promise<void> {
    const { db, keys } = this.#options;
    for (const used of keys.takeLastUsed()) this.#waiting.set(used.keyId, used);
    if (this.#waiting.size === 0) return;
    this.#startMinute(Math.floor((await clockNow(db)) / MINUTE_MS) * MINUTE_MS);
    for (const keyId of this.#writtenThisMinute) this.#waiting.delete(keyId);
    const atOnce = db.distributed ? 1 : ACCOUNTS_PER_STATEMENT;
    for (const accounts of chunks(byAccount(this.#waiting.values()), atOnce)) await this.#write(accounts);
  }

  #startMinute(minuteMs: number): void {
    if (minuteMs === this.#minuteMs) return;
    this.#minuteMs = minuteMs;
    this.#writtenThisMinute.clear();
  }

  async #write(accounts: readonly (readonly [string, string[]])[]): Promise<void> {
    const keyIds = accounts.flatMap(([, ids]) => ids);
    const accountIds = textArray(accounts.map(([accountId]) => accountId));
    await this.#options.db.query(updateLastUsed, [accountIds, textArray(keyIds), timestamp(this.#minuteMs)]);
    for (const keyId of keyIds) {
      this.#waiting.delete(keyId);
      this.#writtenThisMinute.add(keyId);
    }
  }
}

/** Account id and the ids of its keys, in the order of the accounts. */
function byAccount(used: Iterable<{ accountId: string; keyId: string }>): [string, string[]][] {
  const keys = new Map<string, string[]>();
  for (const { accountId, keyId } of used) {
    const list = keys.get(accountId);
    if (list === undefined) keys.set(accountId, [keyId]);
    else list.push(keyId);
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size));
}
