// Pictures that are decoded on this process, whatever module wants them: few at once, in turns by account, and of large ones one.
import pLimit from 'p-limit';
import { AccountTurns } from '../account-turns.ts';
import type { Admission } from '../admission.ts';

export class DecodeTurns {
  readonly #accounts: AccountTurns;
  readonly #large = pLimit(1);

  constructor({ decodesAtOnce }: Pick<Admission['all'], 'decodesAtOnce'>) {
    this.#accounts = new AccountTurns(decodesAtOnce);
  }

  /** Runs `work` when it is the account's turn. Throws CONCURRENCY_LIMITED or OVERLOADED when too many wait. */
  run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    return this.#accounts.run(accountId, work);
  }

  /** Runs `work` once no other large picture is under way; within `run`. */
  large(work: () => Promise<void>): Promise<void> {
    return this.#large(work);
  }
}
