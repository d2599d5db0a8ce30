// Re-encodes pictures for accounts in a separate process, through files.
import { rm, writeFile } from 'node:fs/promises';
import type { AssetsPart } from '../assets/assets.ts';
import type { PicturesPart } from './decode-places.ts';
import type { PictureProcesses } from './processes.ts';
import type { DecodeBounds, PictureOutcome } from './wire.ts';

export class AccountPictures<Task, Made> {
  readonly #core: AssetsPart & PicturesPart;
  readonly #processes: Pick<PictureProcesses<Task, DecodeBounds, Made>, 'make'>;

  constructor(core: AssetsPart & PicturesPart, processes: Pick<PictureProcesses<Task, DecodeBounds, Made>, 'make'>) {
    this.#core = core;
    this.#processes = processes;
  }

  /**
   * What `use` makes of the file at `path`, which is removed after it. Throws CONCURRENCY_LIMITED and OVERLOADED when too many wait, and when
   * `signal` ends it.
   */
  make<T>(
    accountId: string,
    bytes: Uint8Array,
    task: Task,
    signal: AbortSignal,
    use: (path: string, made: Made) => Promise<T>,
  ): Promise<PictureOutcome<{ readonly value: T }>> {
    const { assets, decodes } = this.#core;
    return decodes.run(accountId, async () => {
      signal.throwIfAborted();
      const [from, to] = [await assets.workPath(), await assets.workPath()];
      try {
        await writeFile(from, bytes, { mode: 0o600 });
        const outcome = await this.#processes.make(from, to, task, signal);
        return outcome.kind === 'made' ? { kind: 'made', value: await use(to, outcome) } : outcome;
      } finally {
        await Promise.all([from, to].map((path) => rm(path, { force: true })));
      }
    });
  }
}
