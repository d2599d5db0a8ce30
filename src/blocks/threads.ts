// The thread pool of this process for blocks of all kinds. No account ever holds all threads. A task that exceeds its time is ended from
// outside.
import { AccountThreads } from '../core/account-threads.ts';
import type { Admission } from '../core/admission.ts';
import type { BlockTask } from './work.ts';

/** What this room adds to the services of a process. */
export interface BlocksPart {
  /** Where blocks of records are worked on. */
  readonly blockThreads: BlockThreads;
}

export interface ThreadTime {
  /** At most so long; absent: as long as all work. */
  readonly msMax?: number;
  /** What is thrown when it takes longer. Absent: an Error, of work that nobody asked for. */
  tooLate?(): Error;
}

type Bounds = Pick<Admission['all'], 'blockThreads' | 'blockThreadMemory' | 'blockThreadMsMax'>;

export class BlockThreads {
  readonly #threads: AccountThreads<BlockTask, unknown>;
  readonly #msMax: number;

  constructor({ blockThreads: threads, blockThreadMemory, blockThreadMsMax: msMax }: Bounds) {
    this.#msMax = msMax;
    this.#threads = new AccountThreads(new URL('./thread.ts', import.meta.url), {
      ...blockThreadMemory,
      threads,
      msMax,
    });
  }

  /**
   * What a thread makes of the task, which is prepared when it is the account's turn: blocks that wait are not in memory. Throws what `prepare` and
   * the task throw, the reason of `signal`, what `tooLate` makes, and CONCURRENCY_LIMITED or OVERLOADED when too much waits.
   */
  run(
    accountId: string,
    prepare: () => Promise<BlockTask>,
    signal: AbortSignal,
    { msMax = this.#msMax, tooLate }: ThreadTime = {},
  ): Promise<unknown> {
    return this.#threads.run(accountId, signal, async (perform) => {
      const task = await prepare();
      const done = await perform(task, { msMax });
      if (done.kind === 'answer') return done.answer;
      if (done.kind === 'memory')
        throw new Error(`${task.exportName}: a thread had not enough memory for ${task.blocks.length} blocks`);
      const ms = Math.round(Math.min(msMax, this.#msMax));
      throw tooLate?.() ?? new Error(`${task.exportName}: a thread took longer than ${ms} ms`);
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
