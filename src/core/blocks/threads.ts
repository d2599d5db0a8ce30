// The threads in which this process works on blocks of all kinds. An account never has all of them, and none works longer on one piece than its
// time: it is ended from outside.
import { Threads } from '../../lib/threads.ts';
import { invalidField } from '../../problems/problem.ts';
import { AccountPlaces } from '../account-places.ts';
import { waitingBounds } from '../account-turns.ts';
import type { Admission } from '../admission.ts';
import type { BlockTask } from './work.ts';

type Bounds = Pick<Admission['all'], 'blockThreads' | 'blockThreadMemory' | 'blockThreadMsMax'>;

export class BlockThreads {
  readonly #threads: Threads<BlockTask, unknown>;
  readonly #places: AccountPlaces;
  readonly #msMax: number;

  constructor({ blockThreads, blockThreadMemory, blockThreadMsMax }: Bounds) {
    this.#threads = new Threads(new URL('./thread.ts', import.meta.url), blockThreadMemory);
    this.#places = new AccountPlaces(blockThreads, waitingBounds);
    this.#msMax = blockThreadMsMax;
  }

  /**
   * What a thread makes of the task, which is prepared when it is the account's turn: blocks that wait are not in memory. `msMax`: of the thread.
   * Throws what `prepare` and the task throw, the reason of `signal`, VALIDATION_FAILED (`too_complex`) when the thread takes longer, and
   * CONCURRENCY_LIMITED or OVERLOADED when too much waits.
   */
  async run(
    accountId: string,
    prepare: () => Promise<BlockTask>,
    signal: AbortSignal,
    msMax = this.#msMax,
  ): Promise<unknown> {
    return this.#places.run(accountId, signal, async () => {
      const task = await prepare();
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), Math.min(Math.max(msMax, 1), this.#msMax));
      try {
        const answer = await this.#threads.run(task, AbortSignal.any([signal, late.signal]));
        signal.throwIfAborted();
        if (answer !== null) return answer;
      } finally {
        clearTimeout(timer);
      }
      if (late.signal.aborted) {
        throw invalidField('query', 'too_complex', 'The query takes too long. Ask for less of it, or a shorter time.');
      }
      throw new Error(`${task.exportName}: a thread had not enough memory for ${task.blocks.length} blocks`);
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
