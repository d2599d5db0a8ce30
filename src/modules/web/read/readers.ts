// Where pages are read: a few threads, each with a bound of memory and time, in turns by account.
import { AccountPlaces } from '../../../core/account-places.ts';
import type { Admission } from '../../../core/admission.ts';
import type { Core } from '../../../core/context.ts';
import { Threads } from '../../../lib/threads.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { ReadAnswer, ReadPage, ReadTask } from './wire.ts';

/** So many times the bound by the clock, and the machine is too busy. */
const BUSY_SHARE = 4;
const LOOK_MS_MIN = 100;

export class Readers {
  readonly #places: AccountPlaces;
  readonly #threads: Threads<ReadTask, ReadAnswer, 'begun'>;
  readonly #bounds: Admission['call']['page'];

  constructor({ bounds: { all, account, call } }: Pick<Core, 'bounds'>, { threads }: { threads: number }) {
    this.#places = new AccountPlaces(threads, { max: all.pagesWaitingMax, perOwnerMax: account.pagesWaitingMax });
    this.#bounds = call.page;
    this.#threads = new Threads(new URL('./thread.ts', import.meta.url), call.page);
  }

  /**
   * The bytes of the task are handed over: the caller has them no more. Throws VALIDATION_FAILED of `url` for what cannot be read, takes too
   * long or too much memory; CONCURRENCY_LIMITED and OVERLOADED when too many wait, OVERLOADED also when the machine is too busy to read it.
   */
  run(accountId: string, task: ReadTask, signal: AbortSignal): Promise<ReadPage> {
    return this.#places.run(accountId, signal, async () => {
      const answer = await this.#within(task, signal);
      if (answer.kind === 'refused') throw invalidField('url', answer.rule, answer.message);
      return answer;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #within(task: ReadTask, signal: AbortSignal): Promise<ReadAnswer> {
    const late = new AbortController();
    const { msMax } = this.#bounds;
    let timer: NodeJS.Timeout | undefined;
    let isBusy = false;
    // The bound is of processor time: on a busy machine a small page takes seconds. What the process has used since bounds what the thread has.
    const onProgress = () => {
      const [begunMs, before] = [performance.now(), process.cpuUsage()];
      const look = () => {
        const { user, system } = process.cpuUsage(before);
        const leftMs = msMax - (user + system) / 1_000;
        isBusy = leftMs > 0 && performance.now() - begunMs >= BUSY_SHARE * msMax;
        if (leftMs <= 0 || isBusy) late.abort();
        else timer = setTimeout(look, Math.max(leftMs, LOOK_MS_MIN));
      };
      timer = setTimeout(look, msMax);
    };
    const both = AbortSignal.any([signal, late.signal]);
    const answer = await this.#threads
      .run(task, both, { onProgress }, buffersOf(task))
      .finally(() => clearTimeout(timer));
    signal.throwIfAborted();
    if (answer !== null) return answer;
    if (isBusy)
      throw problem('OVERLOADED', { message: 'The service is busy: the page was not read in time. Try again.' });
    const why = late.signal.aborted ? `takes longer than ${msMax / 1_000} s` : 'takes too much memory';
    return { kind: 'refused', rule: 'too_complex', message: `To read the page ${why}.` };
  }
}

/** Only a buffer of its own: small ones share theirs. */
function buffersOf({ bytes }: ReadTask): ArrayBuffer[] {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}
