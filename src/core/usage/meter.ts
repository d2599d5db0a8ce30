// Counts calls per account, capability and key in memory and adds them to the hourly usage at least every five seconds.
// Billable successes are not counted here: their transaction counts them.
import type { Database } from '../../db/database.ts';
import { clockNow } from '../database-clock.ts';
import { addUsage } from './add-usage.ts';

interface Count {
  readonly accountId: string;
  readonly capability: string;
  readonly keyId: string;
  requests: bigint;
  errors: bigint;
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
    this.#add({ accountId, capability, keyId, requests: 1n, errors: failed ? 1n : 0n });
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
    const rows = accounts.flatMap((accountId) => [...(this.#byAccount.get(accountId)?.values() ?? [])]);
    if (rows.length === 0) return;
    for (const accountId of accounts) this.#byAccount.delete(accountId);
    try {
      const atMs = await clockNow(this.#db);
      await addUsage(
        this.#db,
        rows.map((row) => ({ ...row, atMs, units: 0n, spendNanos: 0n })),
      );
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
