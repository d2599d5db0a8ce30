// Pictures that jobs bring or get, made anew outside of this process: few at once, in turns by account, through files.
import { rm, writeFile } from 'node:fs/promises';
import { AccountTurns } from '../../../core/account-turns.ts';
import type { Core } from '../../../core/context.ts';
import type { PictureOutcome, Pictures, PictureTask } from '../vendors/port.ts';

type Made = Extract<PictureOutcome, { kind: 'made' }>;

export class JobPictures {
  readonly #core: Pick<Core, 'assets'>;
  readonly #pictures: Pictures;
  readonly #turns: AccountTurns;

  constructor(core: Pick<Core, 'assets' | 'bounds'>, pictures: Pictures) {
    this.#core = core;
    this.#pictures = pictures;
    this.#turns = new AccountTurns(core.bounds.all.decodesAtOnce);
  }

  /**
   * What `use` makes of the file at `path`, which is removed after it. Throws CONCURRENCY_LIMITED and OVERLOADED when too many wait, and when
   * `signal` ends it.
   */
  make<T>(
    accountId: string,
    bytes: Uint8Array,
    task: PictureTask,
    signal: AbortSignal,
    use: (path: string, contentType: Made['contentType']) => Promise<T>,
  ): Promise<Exclude<PictureOutcome, Made> | { readonly kind: 'made'; readonly value: T }> {
    return this.#turns.run(accountId, async () => {
      signal.throwIfAborted();
      const { assets } = this.#core;
      const [from, to] = [await assets.workPath(), await assets.workPath()];
      try {
        await writeFile(from, bytes, { mode: 0o600 });
        const outcome = await this.#pictures.make(from, to, task, signal);
        return outcome.kind === 'made' ? { kind: 'made', value: await use(to, outcome.contentType) } : outcome;
      } finally {
        await Promise.all([from, to].map((path) => rm(path, { force: true })));
      }
    });
  }
}
