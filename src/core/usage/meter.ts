// Counts calls per account, hour, capability and key in memory and adds them to the usage table at least every five seconds.
// Billable successes are not counted here: their transaction counts them.
import { int8Array, textArray, timestampArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { readClock, upsertUsage } from '../wallet/statements.ts';

interface Count {
  readonly accountId: string;
  readonly capability: string;
  readonly keyId: string;
  requests: number;
  errors: number;
}

export class UsageMeter {
  readonly #db: Database;
  #counts = new Map<string, Count>();

  constructor(db: Database) {
    this.#db = db;
  }

  count(accountId: string, keyId: string, capability: string, failed: boolean): void {
    const id = `${keyId}\n${capability}\n${accountId}`;
    let count = this.#counts.get(id);
    if (count === undefined) {
      count = { accountId, capability, keyId, requests: 0, errors: 0 };
      this.#counts.set(id, count);
    }
    count.requests += 1;
    if (failed) count.errors += 1;
  }

  /** Adds what was counted. What could not be written stays for the next time. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts = new Map();
    try {
      for (const accountCounts of byAccount(counts)) await this.#write(accountCounts);
    } catch (error) {
      for (const count of counts) this.#putBack(count);
      throw error;
    }
  }

  async #write(counts: readonly Count[]): Promise<void> {
    const { rows } = await this.#db.query<{ now: number }>(readClock, []);
    const hour = Math.floor((rows[0]?.now ?? 0) / HOUR_MS) * HOUR_MS;
    await this.#db.query(upsertUsage, [
      textArray([counts[0]?.accountId ?? '']),
      textArray(counts.map((count) => count.accountId)),
      timestampArray(counts.map(() => hour)),
      textArray(counts.map((count) => count.capability)),
      textArray(counts.map((count) => count.keyId)),
      int8Array(counts.map((count) => BigInt(count.requests))),
      int8Array(counts.map((count) => BigInt(count.errors))),
      int8Array(counts.map(() => 0n)),
      int8Array(counts.map(() => 0n)),
    ]);
    for (const count of counts) {
      count.requests = 0;
      count.errors = 0;
    }
  }

  #putBack(count: Count): void {
    if (count.requests === 0) return;
    const id = `${count.keyId}\n${count.capability}\n${count.accountId}`;
    const current = this.#counts.get(id);
    if (current === undefined) this.#counts.set(id, count);
    else {
      current.requests += count.requests;
      current.errors += count.errors;
    }
  }
}

/** One transaction per account; keys and capabilities in one order, so that processes never deadlock. */
function byAccount(counts: readonly Count[]): Count[][] {
  const groups = new Map<string, Count[]>();
  for (const count of counts) {
    const list = groups.get(count.accountId);
    if (list === undefined) groups.set(count.accountId, [count]);
    else list.push(count);
  }
  const order = (a: Count, b: Count) => (a.capability + a.keyId < b.capability + b.keyId ? -1 : 1);
  return [...groups.values()].map((list) => list.sort(order));
}
