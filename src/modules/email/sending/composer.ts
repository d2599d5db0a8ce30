// Where mails are composed: short ones here, long ones in a thread, a few at a time and in turns by account.
import { AccountTurns } from '../../../core/account-turns.ts';
import { Threads } from '../../../lib/threads.ts';
import { COMPOSE_HERE_BYTES_MAX } from '../limits.ts';
import { unpackContent } from '../messages/content.ts';
import { type CopyLinks, compose, type DkimKey } from './compose.ts';
import type { ComposeTask } from './compose-thread.ts';

const AT_ONCE = 2;

export class Composer {
  readonly #threads = new Threads<ComposeTask, Uint8Array<ArrayBuffer>>(
    new URL('./compose-thread.ts', import.meta.url),
  );
  readonly #turns = new AccountTurns(AT_ONCE);

  /** `packed` as `packContent` makes it. Throws CONCURRENCY_LIMITED and OVERLOADED where too many long ones wait. */
  compose(accountId: string, packed: Buffer, links: CopyLinks | null, key: DkimKey | null): Promise<Buffer> {
    if (packed.length <= COMPOSE_HERE_BYTES_MAX) return compose(unpackContent(packed), links, key);
    return this.#turns.run(accountId, async () => {
      const made = await this.#threads.run({ packed, links, key }, AbortSignal.timeout(60_000));
      if (made === null) throw new Error('a mail could not be composed in a minute');
      return Buffer.from(made.buffer, made.byteOffset, made.byteLength);
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
