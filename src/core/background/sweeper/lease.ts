// Who runs a background task: a row that its holder renews. A holder that dies is replaced when its time is over.
// Real time, not clock_now(): a test clock must not hand the same task to two processes.
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const addLease = statement(
  'lease_add',
  `INSERT INTO core.sweep_lease (name, holder, lease_until) VALUES ($1, '', '-infinity') ON CONFLICT (name) DO NOTHING`,
);
const takeLease = statement(
  'lease_take',
  `UPDATE core.sweep_lease
      SET holder = $2, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
    WHERE name = $1 AND (holder = $2 OR lease_until < clock_timestamp())`,
);
const dropLease = statement(
  'lease_drop',
  `UPDATE core.sweep_lease SET lease_until = '-infinity' WHERE name = $1 AND holder = $2`,
);

export interface LeaseOptions {
  readonly db: Database;
  readonly name: string;
  /** This process. */
  readonly holder: string;
  readonly leaseMs: number;
}

export class Lease {
  readonly #options: LeaseOptions;
  #added = false;
  /** performance.now() until which it is surely ours: counted from before it was asked for. */
  #oursUntil = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get isOurs(): boolean {
    return performance.now() < this.#oursUntil;
  }

  /** Takes or renews it, without asking the database while more than half of it is left. False when another process has it. */
  async take(): Promise<boolean> {
    const { db, name, holder, leaseMs } = this.#options;
    const now = performance.now();
    if (this.#oursUntil - now > leaseMs / 2) return true;
    if (!this.#added) await db.query(addLease, [name]);
    this.#added = true;
    const { count } = await db.query(takeLease, [name, holder, leaseMs]);
    this.#oursUntil = count === 1 ? now + leaseMs : 0;
    return count === 1;
  }

  /** Lets another process take over at once. */
  async drop(): Promise<void> {
    if (!this.isOurs) return;
    this.#oursUntil = 0;
    await this.#options.db.query(dropLease, [this.#options.name, this.#options.holder]);
  }
}
