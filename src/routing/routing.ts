// Vendors that an account excludes from routing, by capability. A process caches them for less than a second, so a change is in force
// everywhere within one.
import { LRUCache } from 'lru-cache';
import { textArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const REMEMBERED_MS = 800;
const ACCOUNTS_MAX = 10_000;

const selectRouting = statement(
  'routing_read',
  'SELECT r.capability, r.exclude FROM core.routing r WHERE r.account_id = $1',
);
const upsertRouting = statement(
  'routing_set',
  `INSERT INTO core.routing AS r (account_id, capability, exclude) VALUES ($1, $2, $3::text[])
       ON CONFLICT (account_id, capability) DO UPDATE SET exclude = excluded.exclude`,
);

/** Ids of vendors, by capability. */
export type Exclusions = ReadonlyMap<string, ReadonlySet<string>>;

export const nobody: ReadonlySet<string> = new Set();

export class Routing {
  readonly #remembered: LRUCache<string, Exclusions>;

  constructor(db: Queryable) {
    this.#remembered = new LRUCache({
      max: ACCOUNTS_MAX,
      ttl: REMEMBERED_MS,
      fetchMethod: (accountId) => readExclusions(db, accountId),
    });
  }

  /** Whom a call of the account must not go to. */
  async excludedVendors(accountId: string, capability: string): Promise<ReadonlySet<string>> {
    const exclusions = await this.#remembered.fetch(accountId);
    return exclusions?.get(capability) ?? nobody;
  }

  /** After a change: this process at least knows it at once. */
  forget(accountId: string): void {
    this.#remembered.delete(accountId);
  }
}

/** As they are now. */
export async function readExclusions(db: Queryable, accountId: string): Promise<Exclusions> {
  const { rows } = await db.query<{ capability: string; exclude: string[] }>(selectRouting, [accountId]);
  return new Map(rows.map(({ capability, exclude }) => [capability, new Set(exclude)]));
}

export async function setExclusions(
  tx: Transaction,
  accountId: string,
  capability: string,
  exclude: readonly string[],
): Promise<void> {
  await tx.query(upsertRouting, [accountId, capability, textArray(exclude)]);
}
