// Counts calls per account, capability and key in memory and adds them to the hourly usage at least every five seconds.
// Billable successes are not counted here: their transaction counts them.
import { int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { readClock, upsertUsage } from '../wallet/lane/statements.ts';
import { usageOrder } from './order.ts';

interface Count {
  readonly accountId: string;
  readonly capability: string;
  readonly keyId: string;
  requests: number;
  errors: number;
}

type Counts = Map<string, Count>;

const ACCOUNTS_PER_WRITE = 64;

export class UsageMeter {
  readonly #db: Database;
  #byAccount = new Map<string, Counts>();
  /** Writes follow one another, so that whoever flushes also waits for what another flush has taken. */
  #writing: Promise<void> = Promise.resolve();
  /** Flushes of one account that have not begun: what is counted until then is in them, so later readers join. */
  readonly #queued = new Map<string, Promise<void>>();

  constructor(db: Database) {
    this.#db = db;
  }

  count(accountId: string, keyId: string, capability: string, failed: boolean): void {
    this.#add({ accountId, capability, keyId, requests: 1, errors: failed ? 1 : 0 });
  }

  /** Adds what was counted to the database. What could not be written stays for the next time; then it rejects. */
  flush(): Promise<void> {
    return this.#inTurn(() => [...this.#byAccount.keys()]);
  }

  /** The same for one account, before its usage is read. */
  flushAccount(accountId: string): Promise<void> {
    const queued = this.#queued.get(accountId);
    if (queued !== undefined) return queued;
    const turn = this.#inTurn(() => {
      this.#queued.delete(accountId);
      return [accountId];
    });
    this.#queued.set(accountId, turn);
    return turn;
  }

  #inTurn(accounts: () => string[]): Promise<void> {
    const turn = this.#writing.then(() => this.#writeAll(accounts()));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #writeAll(accounts: readonly string[]): Promise<void> {
    const atOnce = this.#db.distributed ? 1 : ACCOUNTS_PER_WRITE;
    for (let at = 0; at < accounts.length; at += atOnce) {
      await this.#write(accounts.slice(at, at + atOnce));
    }
  }

  async #write(accounts: readonly string[]): Promise<void> {
    const rows = accounts
      .flatMap((accountId) => [...(this.#byAccount.get(accountId)?.values() ?? [])])
      .sort(usageOrder);
    if (rows.length === 0) return;
    for (const accountId of accounts) this.#byAccount.delete(accountId);
    try {
      const clock = await this.#db.query<{ now: number }>(readClock, []);
      const hour = Math.floor((clock.rows[0] as { now: number }).now / HOUR_MS) * HOUR_MS;
      await this.#db.query(upsertUsage, usageValues(rows, hour));
    } catch (error) {
      for (const row of rows) this.#add(row);
      throw error;
    }
  }

  #add({ accountId, capability, keyId, requests, errors }: Count): void {
    const id = `${keyId}\n${capability}`;
    const counts: Counts = this.#byAccount.get(accountId) ?? new Map();
    this.#byAccount.set(accountId, counts);
    const count = counts.get(id);
    if (count === undefined) counts.set(id, { accountId, capability, keyId, requests, errors });
    else {
      count.requests += requests;
      count.errors += errors;
    }
  }
}

function usageValues(rows: readonly Count[], hour: number): Buffer[] {
  const nothing = int8Array(rows.map(() => 0n));
  return [
    textArray([...new Set(rows.map((row) => row.accountId))]),
    textArray(rows.map((row) => row.accountId)),
    timestampArray(rows.map(() => hour)),
    textArray(rows.map((row) => row.capability)),
    textArray(rows.map((row) => row.keyId)),
    int8Array(rows.map((row) => BigInt(row.requests))),
    int8Array(rows.map((row) => BigInt(row.errors))),
    nothing,
    nothing,
  ];
}
