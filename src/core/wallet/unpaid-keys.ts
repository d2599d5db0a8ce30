// Keys whose calls were refused for lack of credit. As long as wallet or budget lack it, further calls of such a key are refused before their
// bodies are decompressed. Calls that pass are decided by the lane alone.
import type { Database } from '../../db/database.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import { lruOf } from '../../lib/lru.ts';
import { Problem } from '../../problems/problem.ts';
import type { CallContext } from '../callers/context.ts';
import { readFunds } from './funds.ts';
import { type PriceBook, priceOf } from './prices.ts';

const CALLS_PER_READING = 256;
/** For so long a refusal is told again as it was, unless there is credit. */
const UNPAID_MS = 60_000;
const UNPAID_KEYS_MAX = 10_000;

export class UnpaidKeys {
  /** Forgetting one costs the reading of a body. */
  readonly #refusals = lruOf<Problem>(UNPAID_KEYS_MAX, { ttl: UNPAID_MS });
  /** Keyed by account: many calls share one reading that began after they came. */
  readonly #funds: Coalescer<null, bigint>;
  readonly #price: bigint;

  /** `priceEntry`: of the least that a call costs, in the price book. */
  constructor({ db, prices }: { db: Database; prices: PriceBook }, priceEntry: string) {
    this.#price = priceOf(prices, priceEntry, 1n);
    this.#funds = new Coalescer({
      batchMax: CALLS_PER_READING,
      run: async (accountId, calls) => {
        const funds = await readFunds(db.hot, accountId);
        return calls.map(() => funds);
      },
    });
  }

  /** Throws what the key was refused with, when it would be refused again. */
  async check({ principal, accountId }: CallContext<unknown>): Promise<void> {
    const refusal = this.#refusals.get(principal.id);
    if (refusal === undefined) return;
    if ((await this.#funds.add(accountId, null)) < this.#price) throw refusal;
    this.#refusals.delete(principal.id);
  }

  /** Answers and throws what `charge` does, and remembers a refusal. */
  async watch<T>({ principal }: CallContext<unknown>, charge: Promise<T>): Promise<T> {
    try {
      return await charge;
    } catch (error) {
      if (isForWantOfCredit(error)) this.#refusals.set(principal.id, error);
      throw error;
    }
  }
}

/** The cap of a key is not looked at here: what it refused is decided anew. */
function isForWantOfCredit(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'INSUFFICIENT_CREDIT' && error.detail !== 'key_cap';
}
