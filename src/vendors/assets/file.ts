// Assets in a folder. What is put is written beside its place, flushed, and moved there: a key is whole or not there.
import { createReadStream, type Dirent } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { AssetGone, type AssetStore, requireAssetKey } from './port.ts';
import { changedMs, isMissing, WorkFolder } from './work-folder.ts';

const WORK = '.work';
const MARK = '.quartermaster-assets';
const LISTED_MAX = 1_000;

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

  async list(prefix: string, after: string, beforeMs: number): Promise<string[]> {
    const own = (await entriesOf(this.#folder, false)).filter(({ name }) => name !== WORK && name !== MARK);
    const begins = own.filter(({ name }) => `${name}/`.startsWith(prefix.slice(0, name.length + 1)));
    const within = begins.map(async (entry) =>
      entry.isFile()
        ? [entry]
        : (await entriesOf(join(this.#folder, entry.name), true)).filter((each) => each.isFile()),
    );
    const keys = (await Promise.all(within))
      .flat()
      .map((entry) => relative(this.#folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((key) => key > after && key.startsWith(prefix))
      .sort();
    const old: string[] = [];
    for (const key of keys) {
      if (old.length === LISTED_MAX) break;
      if ((await changedMs(join(this.#folder, key))) < beforeMs) old.push(key);
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

async function entriesOf(folder: string, recursive: boolean): Promise<Dirent[]> {
  try {
    return await readdir(folder, { recursive, withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
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
