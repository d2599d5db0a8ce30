// How many calls of models an account has under way in this process: each holds a connection to a vendor, and maybe one to a client, for
// as long as its answer takes.

import type { Tier } from '../../../core/accounts/tiers.ts';
import { problem } from '../../../problems/problem.ts';
import { callsAtOnce } from '../limits.ts';
import type { ModelCall } from './model-call.ts';

export class CallSlots {
  readonly #taken = new Map<string, number>();
  readonly #isLimited: boolean;
  readonly #processes: number;

  /** `processes`: behind one port, which share what an account may have. */
  constructor(isLimited: boolean, processes: number) {
    this.#isLimited = isLimited;
    this.#processes = processes;
  }

  /** Takes one, and answers what gives it back, once; items of batches have places of their own. Throws CONCURRENCY_LIMITED. */
  take({ accountId, tier, item }: Pick<ModelCall, 'accountId' | 'tier' | 'item'>): () => void {
    if (item !== undefined) return () => undefined;
    const taken = this.#taken.get(accountId) ?? 0;
    const max = this.#maxOf(tier);
    if (taken >= max) {
      const message = `The account has ${taken} calls of models under way; its tier allows ${callsAtOnce[tier]} at once.`;
      throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: 1_000 });
    }
    this.#taken.set(accountId, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(accountId) ?? 1) - 1;
      if (left === 0) this.#taken.delete(accountId);
      else this.#taken.set(accountId, left);
    };
  }

  #maxOf(tier: Tier): number {
    return this.#isLimited ? Math.ceil(callsAtOnce[tier] / this.#processes) : Number.POSITIVE_INFINITY;
  }
}
