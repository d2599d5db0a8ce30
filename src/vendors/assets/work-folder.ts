// Folder for files that are being made, on a disk of this machine. The code that asks for a file removes it; files of a dead process are
// removed by age.
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../../lib/ids.ts';

export class WorkFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async newPath(): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    return join(this.#folder, randomText(22));
  }

  async removeOld(beforeMs: number): Promise<void> {
    for (const name of await namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      if ((await changedMs(path)) < beforeMs) await rm(path, { force: true });
    }
  }
}

/** Infinity for what is gone by then. */
export async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Of a folder that is not there: none. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
