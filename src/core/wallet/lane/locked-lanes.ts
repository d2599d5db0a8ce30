// Retries for accounts whose wallet, or a row of whose effects, is locked by another transaction, apart from all other commits. They take turns
// on a few connections. The first attempt waits briefly in PostgreSQL's lock queue, which is fair between processes. A later attempt assumes a
// long lock and only polls, with backoff.

import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { RETRY_FOR_MS } from '../../../db/ride-out.ts';
import { exactBackoffMs } from '../../../lib/backoff.ts';
import type { Admission } from '../../admission.ts';
import type { LockedWallets } from './commit.ts';
import type { Waiting } from './waiting.ts';

const BACKOFF = { firstMs: 10, maxMs: 200 };

/** Commits the calls of one account. Answers those that met a lock. */
type Attempt = (calls: readonly Waiting[], locked: LockedWallets) => Promise<readonly Waiting[]>;

export class LockedLanes {
  readonly #turns: LimitFunction;
  readonly #accountsMax: number;
  readonly #forMs: number;
  #accounts = 0;

  /** `forMs`: how long a call waits. */
  constructor(bounds: Admission['all'], forMs = RETRY_FOR_MS) {
    this.#turns = pLimit(bounds.lockedAccountsAtOnce);
    this.#accountsMax = bounds.lockedAccountsMax;
    this.#forMs = forMs;
  }

  /** Tries until the calls are answered, or the first of them has waited too long. Answers those that are left. */
  async retry(calls: readonly Waiting[], attempt: Attempt): Promise<readonly Waiting[]> {
    if (this.#accounts >= this.#accountsMax) return calls;
    this.#accounts += 1;
    try {
      return await this.#tryAgain(calls, attempt);
    } finally {
      this.#accounts -= 1;
    }
  }

  async #tryAgain(calls: readonly Waiting[], attempt: Attempt): Promise<readonly Waiting[]> {
    const giveUpAt = Math.min(...calls.map(({ sinceMs }) => sinceMs)) + this.#forMs;
    let left = await this.#turns(() => attempt(calls, 'wait for'));
    for (let tries = 1; left.length > 0; tries += 1) {
      const pauseMs = exactBackoffMs(BACKOFF, tries);
      if (performance.now() + pauseMs > giveUpAt) return left;
      await sleep(pauseMs);
      const asked = left;
      left = await this.#turns(() => attempt(asked, 'pass over'));
    }
    return left;
  }
}
