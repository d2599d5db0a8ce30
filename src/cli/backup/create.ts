// Creates a backup: files under their names in DATA_DIR, then the manifest. Assets are copied before the database and again after it, so every
// asset that a row of the copied database names is in the backup. An interrupted backup has no manifest.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import release from '../../../package.json' with { type: 'json' };
import type { Config } from '../../config/config.ts';
import { copyCluster, type TakeFile } from '../../db/embedded/base-backup.ts';
import type { Connection } from '../../db/embedded/layout.ts';
import type { AssetStore } from '../../vendors/assets/port.ts';
import { CommandError } from '../output.ts';
import { type BackupFile, keyOf, type Manifest, writeManifest } from './manifest.ts';

const BESIDE = ['secrets.key', 'operator.key', 'vendors.yaml', 'postgres/connection.json'];
/** Of the folder of assets: files that are being made. */
const WORK = '.work';

export interface BackupSource {
  readonly config: Config;
  /** Of the embedded server; null: DATABASE_URL names another. */
  readonly connection: Connection | null;
}

/** Throws CommandError for a place that is not empty. */
export async function createBackup({ config, connection }: BackupSource, store: AssetStore): Promise<Manifest> {
  const { dataDir, assets } = config;
  if ((await store.list('', '', Number.POSITIVE_INFINITY)).length > 0)
    throw new CommandError('the place is not empty: give each backup a new folder or prefix');
  const taken = new Taken(store);
  const takeAssets = () => (assets.kind === 'folder' ? copyAssets(assets.folder, taken) : undefined);
  await takeAssets();
  const base =
    connection && (await copyCluster(connection, dataDir, (name, from) => taken.take(`postgres/data/${name}`, from)));
  await takeAssets();
  for (const name of BESIDE)
    if (connection !== null || !name.startsWith('postgres')) await taken.take(name, join(dataDir, name));
  if (taken.files.size === 0)
    throw new CommandError(`there is nothing to back up in ${dataDir}: set DATA_DIR to the data of the service`);
  const manifest: Manifest = {
    format: 1,
    created_at: new Date().toISOString(),
    release: release.version,
    database: base && {
      postgres: base.major,
      start_lsn: base.startLsn,
      stop_lsn: base.stopLsn,
      folders: [...base.folders],
    },
    has_assets: assets.kind === 'folder',
    files: [...taken.files.values()],
  };
  await writeManifest(store, manifest);
  return manifest;
}

async function copyAssets(folder: string, taken: Taken): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(unlessMissing([]))) {
    const name = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isFile() && !name.startsWith(`${WORK}/`)) await taken.takeOnce(`assets/${name}`, join(folder, name));
  }
}

class Taken {
  readonly files = new Map<string, BackupFile>();
  readonly #store: AssetStore;

  constructor(store: AssetStore) {
    this.#store = store;
  }

  /** An asset is never changed. */
  async takeOnce(path: string, from: string): Promise<void> {
    if (!this.files.has(path)) await this.take(path, from);
  }

  /** What is gone meanwhile is not taken. */
  readonly take: TakeFile = async (path, from) => {
    const work = await this.#store.workPath();
    try {
      const copied = typeof from === 'string' ? await copyFile(from, work) : await writeBytes(from, work);
      if (copied === null) return;
      await this.#store.putFile(keyOf(path), work);
      this.files.set(path, { path, ...copied });
    } finally {
      await rm(work, { force: true });
    }
  };
}

/** Null: there is no such file. It may grow or shrink meanwhile: what was read counts. */
async function copyFile(from: string, to: string): Promise<Pick<BackupFile, 'bytes' | 'sha256'> | null> {
  const digest = createHash('sha256');
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      digest.update(piece);
      done(null, piece);
    },
  });
  try {
    await pipeline(createReadStream(from), counted, createWriteStream(to, { mode: 0o600 }));
  } catch (error) {
    return unlessMissing(null)(error);
  }
  return { bytes: (await stat(to)).size, sha256: digest.digest('hex') };
}

async function writeBytes(bytes: Buffer, to: string): Promise<Pick<BackupFile, 'bytes' | 'sha256'>> {
  await writeFile(to, bytes, { mode: 0o600 });
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function unlessMissing<T>(instead: T) {
  return (error: unknown): T => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
    throw error;
  };
}
