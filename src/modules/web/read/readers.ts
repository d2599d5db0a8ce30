// Pool of page reader threads: a few, each with a memory and time limit; accounts take turns.
import { AccountThreads, type Perform } from '../../../core/account-threads.ts';
import type { Services } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { ReadAnswer, ReadPage, ReadTask } from './wire.ts';

const BEGIN_MS_MAX = 10_000;
/** So many times the bound by the clock, and the machine is too busy. */
const BUSY_SHARE = 4;

export class Readers {
  readonly #threads: AccountThreads<ReadTask, ReadAnswer, 'begun'>;
  readonly #msMax: number;

  constructor({ bounds: { all, account, call } }: Pick<Services, 'bounds'>, { threads }: { threads: number }) {
    const waiting = { max: all.pagesWaitingMax, perOwnerMax: account.pagesWaitingMax };
    this.#msMax = call.page.msMax;
    this.#threads = new AccountThreads(new URL('./thread.ts', import.meta.url), {
      ...call.page,
      beginMsMax: BEGIN_MS_MAX,
      busyShare: BUSY_SHARE,
      threads,
      waiting,
    });
  }

  /**
   * The bytes of the task are handed over: the caller has them no more. Throws VALIDATION_FAILED of `url` for what cannot be read, takes too
   * long or too much memory; CONCURRENCY_LIMITED and OVERLOADED when too many wait, OVERLOADED also when the machine is too busy to read it.
   */
  run(accountId: string, task: ReadTask, signal: AbortSignal): Promise<ReadPage> {
    return this.#threads.run(accountId, signal, async (perform) => {
      const answer = await this.#within(task, perform);
      if (answer.kind === 'refused') throw invalidField('url', answer.rule, answer.message);
      return answer;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  /** A thread that has begun tells so, and has all of its time from then on. */
  async #within(task: ReadTask, perform: Perform<ReadTask, ReadAnswer, 'begun'>): Promise<ReadAnswer> {
    const done = await perform(task, { transfer: buffersOf(task) });
    if (done.kind === 'answer') return done.answer;
    if (done.kind === 'busy')
      throw problem('OVERLOADED', { message: 'The service is busy: the page was not read in time. Try again.' });
    const why = done.kind === 'late' ? `takes longer than ${this.#msMax / 1_000} s` : 'takes too much memory';
    return { kind: 'refused', rule: 'too_complex', message: `To read the page ${why}.` };
  }
}

/** Only a buffer of its own: small ones share theirs. */
function buffersOf({ bytes }: ReadTask): ArrayBuffer[] {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}
