// Composition of mails: short ones on the event loop, long ones in a thread.
import { AccountThreads } from '../../../core/account-threads.ts';
import { COMPOSE_HERE_BYTES_MAX } from '../limits.ts';
import { unpackContent } from '../messages/content.ts';
import { type CopyLinks, compose, type DkimKey } from './compose.ts';
import type { ComposeTask } from './compose-thread.ts';

const THREADS = 2;
const MS_MAX = 60_000;

export class Composer {
  readonly #threads = new AccountThreads<ComposeTask, Uint8Array<ArrayBuffer>>(
    new URL('./compose-thread.ts', import.meta.url),
    { threads: THREADS, msMax: MS_MAX },
  );

  /** `packed` as `packContent` makes it. Throws CONCURRENCY_LIMITED and OVERLOADED where too many long ones wait. */
  compose(accountId: string, packed: Buffer, links: CopyLinks | null, key: DkimKey | null): Promise<Buffer> {
    if (packed.length <= COMPOSE_HERE_BYTES_MAX) return compose(unpackContent(packed), links, key);
    return this.#threads.run(accountId, null, async (perform) => {
      const done = await perform({ packed, links, key });
      if (done.kind !== 'answer') throw new Error(`a mail could not be composed: its thread was ended (${done.kind})`);
      const { answer } = done;
      return Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
