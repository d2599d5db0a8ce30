// Renews the holds that this process works under, several times per term, so that they do not expire. A hold that its process no longer renews
// is released by the sweep.
import { textArray } from '../../../db/arrays.ts';
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const RENEWALS_PER_TERM = 4;

const renewHolds = statement(
  'hold_renew',
  `UPDATE core.hold SET expires_at = core.clock_now() + $4 * interval '1 millisecond'
    WHERE account_id = $1 AND hold_id = ANY($2::text[]) AND status = 'active' AND owner = $3`,
);

export interface RenewalOptions {
  readonly db: Database;
  /** This process. */
  readonly owner: string;
  readonly termMs: number;
  readonly onError: (error: unknown) => void;
}

export class HoldRenewal {
  readonly #options: RenewalOptions;
  /** Accounts by their holds. */
  readonly #kept = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /** Renews the hold until `work` has ended. Answers and throws what `work` does. */
  async during<T>(accountId: string, holdId: string, work: () => Promise<T>): Promise<T> {
    this.#kept.set(holdId, accountId);
    this.#timer ??= setInterval(() => void this.#renew(), this.#options.termMs / RENEWALS_PER_TERM).unref();
    try {
      return await work();
    } finally {
      this.#kept.delete(holdId);
      if (this.#kept.size === 0) this.#stop();
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #renew(): Promise<void> {
    const { db, owner, termMs, onError } = this.#options;
    for (const [accountId, holds] of Map.groupBy(this.#kept, ([, account]) => account)) {
      const ids = textArray(holds.map(([holdId]) => holdId));
      // There are further tries within the term.
      await db.query(renewHolds, [accountId, ids, owner, termMs]).catch(onError);
    }
  }
}
