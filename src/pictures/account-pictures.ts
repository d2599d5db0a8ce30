// Re-encodes pictures for accounts in a separate process, through files: here, or where the deployment renders.
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { AssetsPart } from '../assets/assets.ts';
import type { RenderingPart } from '../rendering/rendering.ts';
import type { RenderWork } from '../rendering/wire.ts';
import type { PicturesPart } from './decode-places.ts';
import type { PictureProcesses } from './processes.ts';
import type { DecodeBounds, PictureOutcome } from './wire.ts';

interface PictureWish<Task> {
  readonly bytes: Uint8Array;
  readonly task: Task;
}

interface Sent<Made> {
  readonly made: Made;
  /** Null: the task makes no picture. */
  readonly bytes: Uint8Array | null;
}

type Maker<Task, Made> = Pick<PictureProcesses<Task, DecodeBounds, Made>, 'make'>;

export class AccountPictures<Task, Made> {
  readonly #core: AssetsPart & PicturesPart;
  readonly #processes: Maker<Task, Made>;
  readonly #elsewhere: RenderWork<PictureWish<Task>, PictureOutcome<{ readonly value: Sent<Made> }>> | null;

  /** `name`: of these pictures, among all that is rendered. */
  constructor(core: AssetsPart & PicturesPart & RenderingPart, name: string, processes: Maker<Task, Made>) {
    this.#core = core;
    this.#processes = processes;
    this.#elsewhere = core.rendering.workElsewhere<PictureWish<Task>, PictureOutcome<{ readonly value: Sent<Made> }>>(
      name,
      ({ accountId, request: { bytes, task }, signal }) =>
        this.#makeHere(accountId, bytes, task, signal ?? AbortSignal.any([]), async (path, made) => ({
          made,
          bytes: await bytesOf(path),
        })),
    );
  }

  /**
   * What `use` makes of the file at `path`, which is removed after it. Throws CONCURRENCY_LIMITED and OVERLOADED when too many wait,
   * SERVICE_UNAVAILABLE where nobody renders, and when `signal` ends it.
   */
  async make<T>(
    accountId: string,
    bytes: Uint8Array,
    task: Task,
    signal: AbortSignal,
    use: (path: string, made: Made) => Promise<T>,
  ): Promise<PictureOutcome<{ readonly value: T }>> {
    if (this.#elsewhere === null) return this.#makeHere(accountId, bytes, task, signal, use);
    const outcome = await this.#elsewhere({ accountId, request: { bytes, task }, signal }, askNothing);
    if (outcome.kind !== 'made') return outcome;
    const { made, bytes: picture } = outcome.value;
    const path = await this.#core.assets.workPath();
    try {
      if (picture !== null) await writeFile(path, picture, { mode: 0o600 });
      return { kind: 'made', value: await use(path, made) };
    } finally {
      await rm(path, { force: true });
    }
  }

  #makeHere<T>(
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

/** Pictures need nothing of the outside world. */
const askNothing = () => Promise.reject(new Error('a picture asks nothing'));

async function bytesOf(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
