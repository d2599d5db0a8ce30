// How many calls of models an account has under way in this process: each holds a connection to a vendor, and maybe one to a client, for
// as long as its answer takes.

import type { Tier } from '../../../core/accounts/tiers.ts';
import type { CallContext } from '../../../core/context.ts';
import { problem } from '../../../problems/problem.ts';
import { callsAtOnce } from '../limits.ts';

export class CallSlots {
  readonly #taken = new Map<string, number>();
  readonly #isLimited: boolean;
  readonly #processes: number;

  /** `processes`: behind one port, which share what an account may have. */
  constructor(isLimited: boolean, processes: number) {
    this.#isLimited = isLimited;
    this.#processes = processes;
  }

  /** Takes one, and answers what gives it back, once. Throws CONCURRENCY_LIMITED. */
  take({ accountId, tier }: Pick<CallContext, 'accountId' | 'tier'>): () => void {
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
    return this.#isLimited ? Math.ceil(callsAtOnce[tier] / this.#processes) : callsAtOnce.enterprise;
  }
}
