// Concurrency limit of model calls per account, across all processes behind one port. Each call holds a connection to a vendor, and maybe one to
// a client, until its answer ends.

import type { UnderWay } from '../../../core/process/under-way.ts';
import { problem } from '../../../problems/problem.ts';
import { callsAtOnce } from '../limits.ts';
import type { ModelCall } from './model-call.ts';

export class ModelCallPlaces {
  readonly #underWay: UnderWay;
  readonly #isLimited: boolean;

  constructor(underWay: UnderWay, isLimited: boolean) {
    this.#underWay = underWay;
    this.#isLimited = isLimited;
  }

  /** Takes one, and answers what gives it back, once; items of batches have places of their own. Throws CONCURRENCY_LIMITED. */
  async take({ accountId, tier, item }: Pick<ModelCall, 'accountId' | 'tier' | 'item'>): Promise<() => void> {
    if (item !== undefined || !this.#isLimited) return () => undefined;
    const name = `ai ${accountId}`;
    const max = callsAtOnce[tier];
    if (!(await this.#underWay.begin(name, max))) {
      const message = `The account has ${max} calls of models under way; its tier allows no more at once.`;
      throw problem('CONCURRENCY_LIMITED', { message, retryAfterMs: 1_000 });
    }
    let isTaken = true;
    return () => {
      if (isTaken) this.#underWay.end(name);
      isTaken = false;
    };
  }
}
