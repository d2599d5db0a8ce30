// Pictures that are decoded on this process, whatever module wants them: few at once, an account never all of them, and of large ones one.
import pLimit from 'p-limit';
import { AccountPlaces } from '../core/account-places.ts';
import type { Admission } from '../core/admission.ts';

/** What this room adds to the services of a process. */
export interface PicturesPart {
  /** Where pictures of all modules wait to be decoded. */
  readonly decodes: DecodePlaces;
}

export class DecodePlaces {
  readonly #accounts: AccountPlaces;
  readonly #large = pLimit(1);

  constructor({ decodesAtOnce }: Pick<Admission['all'], 'decodesAtOnce'>) {
    this.#accounts = new AccountPlaces(decodesAtOnce);
  }

  /** Runs `work` when the account has a place. Throws CONCURRENCY_LIMITED or OVERLOADED when too many wait. */
  run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    return this.#accounts.run(accountId, null, work);
  }

  /** Runs `work` once no other large picture is under way; within `run`. */
  large(work: () => Promise<void>): Promise<void> {
    return this.#large(work);
  }
}
