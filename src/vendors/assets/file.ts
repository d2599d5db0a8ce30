// Assets in a folder. What is put is written beside its place, flushed, and moved there: a key is whole or not there.
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { randomText } from '../../lib/ids.ts';
import { AssetGone, type AssetStore } from './port.ts';

const WORK = '.work';
const MARK = '.quartermaster-assets';
const LISTED_MAX = 1_000;
const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

export function fileAssets(folder: string): AssetStore {
  return new FileAssets(folder);
}

class FileAssets implements AssetStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async workPath(): Promise<string> {
    const place = join(this.#folder, WORK);
    await mkdir(place, { recursive: true, mode: 0o700 });
    return join(place, randomText(22));
  }

  async putFile(key: string, path: string): Promise<void> {
    const target = this.#pathOf(key);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await flush(path);
    await rename(path, target);
    await flush(dirname(target));
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = await this.workPath();
    try {
      await writeFile(path, bytes, { mode: 0o600 });
      await this.putFile(key, path);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async *open(key: string, start: number, end: number): AsyncIterable<Uint8Array> {
    try {
      yield* createReadStream(this.#pathOf(key), { start, end });
    } catch (error) {
      throw isMissing(error) ? new AssetGone(key) : error;
    }
  }

  async read(key: string): Promise<Buffer> {
    try {
      return await readFile(this.#pathOf(key));
    } catch (error) {
      throw isMissing(error) ? new AssetGone(key) : error;
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#pathOf(key), { force: true });
  }

  async list(after: string, beforeMs: number): Promise<string[]> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const keys = entries
      .filter((entry) => entry.isFile() && entry.name !== MARK)
      .map((entry) => relative(this.#folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((key) => key > after)
      .sort()
      .slice(0, LISTED_MAX);
    const old = await Promise.all(keys.map(async (key) => ((await this.#changedMs(key)) < beforeMs ? key : null)));
    return old.filter((key) => key !== null);
  }

  async mark(fresh: string): Promise<string> {
    const path = join(this.#folder, MARK);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(path, fresh, { flag: 'wx', mode: 0o600, flush: true });
      return fresh;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return readFile(path, 'utf8');
    }
  }

  /** Never for what is gone by then. */
  async #changedMs(key: string): Promise<number> {
    try {
      return (await stat(join(this.#folder, key))).mtimeMs;
    } catch (error) {
      if (isMissing(error)) return Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  #pathOf(key: string): string {
    if (!keyPattern.test(key)) throw new RangeError(`no key of an asset: ${JSON.stringify(key.slice(0, 80))}`);
    return join(this.#folder, ...key.split('/'));
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
