// The threads in which this process works on blocks of all kinds. Accounts take turns, piece by piece, so that the longest question of one
// leaves room for the others.
import { Threads } from '../../lib/threads.ts';
import { AccountTurns } from '../account-turns.ts';
import type { Admission } from '../admission.ts';
import type { BlockTask } from './work.ts';

export class BlockThreads {
  readonly #threads: Threads<BlockTask, unknown>;
  readonly #turns: AccountTurns;

  constructor({ blockThreads, blockThreadMemory }: Admission['all']) {
    this.#threads = new Threads(new URL('./thread.ts', import.meta.url), blockThreadMemory);
    this.#turns = new AccountTurns(blockThreads);
  }

  /**
   * What a thread makes of the task, which is prepared when it is the account's turn: blocks that wait are not in memory. Throws what `prepare` and
   * the task throw, the reason of `signal`, and CONCURRENCY_LIMITED or OVERLOADED when too much waits.
   */
  async run(accountId: string, prepare: () => Promise<BlockTask>, signal: AbortSignal): Promise<unknown> {
    return this.#turns.run(accountId, async () => {
      signal.throwIfAborted();
      const task = await prepare();
      const answer = await this.#threads.run(task, signal);
      signal.throwIfAborted();
      if (answer === null) {
        throw new Error(`${task.exportName}: a thread had not enough memory for ${task.blocks.length} blocks`);
      }
      return answer;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
