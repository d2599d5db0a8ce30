// Restores a backup and checks every byte against its digest. The cluster is built beside its final path and moved there last, under the lock
// of the data directory. An interrupted restore leaves no database that looks complete, and may be run again.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import { giveTo } from '../../db/embedded/cluster.ts';
import {
  type ConnectionRecord,
  createHome,
  type Layout,
  layoutOf,
  writeConnectionRecord,
} from '../../db/embedded/layout.ts';
import { takeServiceLock } from '../../db/embedded/lock.ts';
import { chooseOwner, type Owner } from '../../db/embedded/owner.ts';
import { AssetGone, type AssetStore } from '../../vendors/assets/port.ts';
import { CommandError } from '../output.ts';
import { type BackupFile, keyOf, type Manifest } from './manifest.ts';

const FILES_AT_ONCE = 8;
const CLUSTER = 'postgres/data/';
const CONNECTION = 'postgres/connection.json';
const ASSETS = 'assets/';

export interface RestoreTarget {
  readonly dataDir: string;
  /** Null: assets are only checked. */
  readonly assetsFolder: string | null;
}

/** Throws CommandError for a damaged file, and for a target that has a database or other files already. */
export async function restoreBackup(store: AssetStore, manifest: Manifest, target: RestoreTarget): Promise<void> {
  const layout = layoutOf(target.dataDir);
  createHome(layout);
  const lock = takeServiceLock(layout);
  try {
    if (existsSync(layout.cluster))
      throw new CommandError(`${layout.cluster} exists: restore into a DATA_DIR without a database`);
    rmSync(layout.unfinishedCluster, { recursive: true, force: true });
    await new Restore(store, layout, target).run(manifest);
  } finally {
    lock.release();
  }
}

class Restore {
  readonly #store: AssetStore;
  readonly #layout: Layout;
  readonly #target: RestoreTarget;
  /** Of the cluster's files. */
  readonly #owner: Owner | undefined;

  constructor(store: AssetStore, layout: Layout, target: RestoreTarget) {
    this.#store = store;
    this.#layout = layout;
    this.#target = target;
    this.#owner = chooseOwner(layout);
  }

  async run({ database, files }: Manifest): Promise<void> {
    for (const folder of database === null ? [] : ['', ...database.folders].sort()) {
      const path = join(this.#layout.unfinishedCluster, folder);
      mkdirSync(path, { mode: 0o700 });
      giveTo(this.#owner, path);
    }
    const limit = pLimit(FILES_AT_ONCE);
    await Promise.all(files.filter(({ path }) => path !== CONNECTION).map((file) => limit(() => this.#restore(file))));
    if (database === null) return;
    await this.#restoreConnection(files.find(({ path }) => path === CONNECTION));
    renameSync(this.#layout.unfinishedCluster, this.#layout.cluster);
  }

  async #restore(file: BackupFile): Promise<void> {
    const { path } = file;
    if (path.startsWith(CLUSTER)) {
      const to = join(this.#layout.unfinishedCluster, path.slice(CLUSTER.length));
      await this.#write(file, to);
      giveTo(this.#owner, to);
    } else if (!path.startsWith(ASSETS)) await this.#writeNew(file, join(this.#target.dataDir, path));
    else if (this.#target.assetsFolder === null) await this.#read(file, () => undefined);
    else await this.#writeNew(file, join(this.#target.assetsFolder, path.slice(ASSETS.length)));
  }

  /** The password of the role in the cluster; where the server listens is chosen at its next start. */
  async #restoreConnection(file: BackupFile | undefined): Promise<void> {
    if (file === undefined) throw new CommandError(`the backup has a database without ${CONNECTION}`);
    const pieces: Buffer[] = [];
    await this.#read(file, (piece) => void pieces.push(piece));
    const record = JSON.parse(Buffer.concat(pieces).toString('utf8')) as ConnectionRecord;
    writeConnectionRecord(this.#layout, { ...record, host: '', fingerprint: '' });
  }

  /** A file that an earlier try restored is kept; another one is nobody's to overwrite. */
  async #writeNew(file: BackupFile, to: string): Promise<void> {
    if (existsSync(to)) {
      if ((await digestOf(to)) === file.sha256) return;
      throw new CommandError(`${to} exists and differs from the backup's: move it away first`);
    }
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    const unfinished = `${to}.unfinished`;
    await this.#write(file, unfinished);
    renameSync(unfinished, to);
  }

  async #write(file: BackupFile, to: string): Promise<void> {
    if (file.bytes === 0) {
      await this.#read(file, () => undefined);
      return writeFileSync(to, '', { mode: 0o600 });
    }
    await pipeline(this.#pieces(file), createWriteStream(to, { mode: 0o600, flush: true }));
  }

  async #read(file: BackupFile, take: (piece: Buffer) => void): Promise<void> {
    for await (const piece of this.#pieces(file)) take(piece);
  }

  /** Throws CommandError when bytes are missing, too many, or other ones. */
  async *#pieces({ path, bytes, sha256 }: BackupFile): AsyncGenerator<Buffer, void, undefined> {
    const digest = createHash('sha256');
    let read = 0;
    try {
      // One byte more than there should be. An empty object has no ranges.
      const found = bytes === 0 ? [await this.#store.read(keyOf(path))] : this.#store.open(keyOf(path), 0, bytes);
      for await (const piece of found) {
        digest.update(piece);
        read += piece.length;
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      }
    } catch (error) {
      if (error instanceof AssetGone) throw new CommandError(`${path} is missing in the backup`);
      throw error;
    }
    if (read === bytes && digest.digest('hex') === sha256) return;
    throw new CommandError(`${path} is damaged: its ${read} bytes are not those that were backed up`);
  }
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path)) digest.update(piece as Buffer);
  return digest.digest('hex');
}
