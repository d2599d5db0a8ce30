// Asset store in a folder. A new asset is written to a temporary file, flushed, and renamed: a key is complete or absent.
import { createReadStream, type Dirent } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AssetGone, type AssetStore, requireAssetKey } from './port.ts';
import { changedMs, isMissing, WorkFolder } from './work-folder.ts';

const WORK = '.work';
const MARK = '.quartermaster-assets';
const LISTED_MAX = 1_000;
/** Of a file at once: a reader holds two of them. */
const READ_BYTES = 256 * 1024;

export function fileAssets(folder: string): AssetStore {
  return new FileAssets(folder);
}

class FileAssets implements AssetStore {
  readonly #folder: string;
  readonly #work: WorkFolder;

  constructor(folder: string) {
    this.#folder = folder;
    // On the same disk: from there a file is only moved.
    this.#work = new WorkFolder(join(folder, WORK));
  }

  workPath(): Promise<string> {
    return this.#work.newPath();
  }

  async putFile(key: string, path: string): Promise<void> {
    const target = this.#pathOf(key);
    const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await flush(path);
    await rename(path, target);
    await flush(dirname(target));
    await flushAbove(target, made);
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

  async putNew(key: string, bytes: Uint8Array): Promise<void> {
    const target = this.#pathOf(key);
    const made = await writeNew(target, bytes);
    await flush(dirname(target));
    await flushAbove(target, made);
  }

  async *open(key: string, start: number, end: number): AsyncIterable<Uint8Array> {
    try {
      yield* createReadStream(this.#pathOf(key), { start, end, highWaterMark: READ_BYTES });
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

  async list(prefix: string, after: string, beforeMs: number): Promise<string[]> {
    const old: string[] = [];
    for await (const key of keysIn(this.#folder, '', { prefix, after })) {
      if ((await changedMs(join(this.#folder, key))) < beforeMs) old.push(key);
      if (old.length === LISTED_MAX) break;
    }
    return old;
  }

  removeUnfinished(beforeMs: number): Promise<void> {
    return this.#work.removeOld(beforeMs);
  }

  async readMark(): Promise<string | null> {
    try {
      return await readFile(join(this.#folder, MARK), 'utf8');
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async setMark(mark: string): Promise<string> {
    const path = await this.workPath();
    try {
      await writeFile(path, mark, { mode: 0o600, flush: true });
      // Whole at once, and only for the first.
      await link(path, join(this.#folder, MARK));
      return mark;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return readFile(join(this.#folder, MARK), 'utf8');
    } finally {
      await rm(path, { force: true });
    }
  }

  #pathOf(key: string): string {
    return join(this.#folder, ...requireAssetKey(key).split('/'));
  }
}

/** Keys below a folder in the order of their names, folder by folder: those that cannot hold any are not read. */
async function* keysIn(
  root: string,
  folder: string,
  bounds: { readonly prefix: string; readonly after: string },
): AsyncGenerator<string, void, undefined> {
  const { prefix, after } = bounds;
  const entries = await entriesOf(join(root, folder));
  const named = entries
    .filter(({ name }) => folder !== '' || (name !== WORK && name !== MARK))
    .map((entry) => ({ isFolder: entry.isDirectory(), key: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const { key, isFolder } of named) {
    if (isFolder) {
      const isPossible = key.startsWith(prefix) || prefix.startsWith(key);
      if (isPossible && (after < key || after.startsWith(key))) yield* keysIn(root, key, bounds);
    } else if (key > after && key.startsWith(prefix)) yield key;
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Its folder is mostly there. Answers the first folder that had to be made. */
async function writeNew(target: string, bytes: Uint8Array): Promise<string | undefined> {
  const write = () => writeFile(target, bytes, { flag: 'wx', mode: 0o600, flush: true });
  try {
    await write();
    return undefined;
  } catch (error) {
    if (!isMissing(error)) throw error;
    const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await write();
    return made;
  }
}

/** Folders that are new are there after a loss of power only when those above them are flushed too. `made`: the first of them. */
async function flushAbove(target: string, made: string | undefined): Promise<void> {
  for (let folder = dirname(target); made !== undefined && folder.startsWith(made); folder = dirname(folder)) {
    await flush(dirname(folder));
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
