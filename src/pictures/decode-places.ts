// Concurrency limit of picture decoding in this process, shared by all modules. Few run at once, an account never takes all places, and only
// one large picture is decoded at a time.
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
