// The threads in which this process works on blocks of all kinds. An account never has all of them, and none works longer on one piece than its
// time: it is ended from outside.
import { Threads } from '../../lib/threads.ts';
import { AccountPlaces } from '../account-places.ts';
import { waitingBounds } from '../account-turns.ts';
import type { Admission } from '../admission.ts';
import type { BlockTask } from './work.ts';

export interface ThreadTime {
  /** At most so long; absent: as long as all work. */
  readonly msMax?: number;
  /** What is thrown when it takes longer. Absent: an Error, of work that nobody asked for. */
  tooLate?(): Error;
}

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
   * What a thread makes of the task, which is prepared when it is the account's turn: blocks that wait are not in memory. Throws what `prepare` and
   * the task throw, the reason of `signal`, what `tooLate` makes, and CONCURRENCY_LIMITED or OVERLOADED when too much waits.
   */
  async run(
    accountId: string,
    prepare: () => Promise<BlockTask>,
    signal: AbortSignal,
    { msMax = this.#msMax, tooLate }: ThreadTime = {},
  ): Promise<unknown> {
    return this.#places.run(accountId, signal, async () => {
      const task = await prepare();
      const late = new AbortController();
      const ms = Math.min(Math.max(msMax, 1), this.#msMax);
      const timer = setTimeout(() => late.abort(), ms);
      try {
        const answer = await this.#threads.run(task, AbortSignal.any([signal, late.signal]));
        signal.throwIfAborted();
        if (answer !== null) return answer;
      } finally {
        clearTimeout(timer);
      }
      if (late.signal.aborted) {
        throw tooLate?.() ?? new Error(`${task.exportName}: a thread took longer than ${Math.round(ms)} ms`);
      }
      throw new Error(`${task.exportName}: a thread had not enough memory for ${task.blocks.length} blocks`);
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
