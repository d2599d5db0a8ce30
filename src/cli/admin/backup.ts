import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { type AssetsLocation, backupLocation } from '../../config/assets-url.ts';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import type { Connection } from '../../db/embedded/layout.ts';
import { openBackupPlace } from '../../service/asset-store.ts';
import type { AssetStore } from '../../vendors/assets/port.ts';
import { createBackup } from '../backup/create.ts';
import { type Manifest, readManifest } from '../backup/manifest.ts';
import { restoreBackup } from '../backup/restore.ts';
import { CommandError, print } from '../output.ts';
import { inspect } from './doctor.ts';
import { withDatabase, withSession } from './session.ts';

const PLACE =
  'a folder, or s3://bucket/prefix?endpoint=…&region=…, signed for by BACKUP_ACCESS_KEY_ID and …_SECRET_ACCESS_KEY';
const OWN_DATABASE =
  'The database of DATABASE_URL is not in it: back that up with pg_dump -Fc "$DATABASE_URL", or with pgBackRest for point-in-time recovery.';

interface Place {
  readonly config: Config;
  readonly store: AssetStore;
}

export function backupCommand(): Command {
  const backup = new Command('backup').description(
    'Back up what DATA_DIR holds: the database of the service, also while it runs, files and keys. A backup holds secrets: keep it as you keep them.',
  );
  const add = (name: string, text: string, run: (place: string, at: Place) => Promise<Answer>) =>
    backup
      .command(name)
      .description(text)
      .argument('<place>', PLACE)
      .option('--json', 'print one JSON object')
      .action(async (place: string, { json = false }: { json?: boolean }) => {
        const answer = await withPlace(place, (at) => run(place, at));
        print(answer, json);
      });
  add('create', 'Back up into a new place. Only a finished backup has a manifest.json.', (place, at) =>
    create(place, at),
  );
  add('verify', 'Check every byte, then start a temporary copy of the database and run doctor on it.', verify);
  add('restore', 'Restore into a DATA_DIR without a database.', restore);
  return backup;
}

type Answer = Parameters<typeof print>[0];

async function withPlace<T>(place: string, work: (at: Place) => Promise<T>): Promise<T> {
  const config = loadConfig(readEnv());
  const location: AssetsLocation = config.settings((variables) => backupLocation(variables, place));
  try {
    return await work({ config, store: openBackupPlace(location) });
  } finally {
    rmSync(location.kind === 's3' ? location.workFolder : join(location.folder, '.work'), {
      recursive: true,
      force: true,
    });
  }
}

async function create(place: string, { config, store }: Place): Promise<Answer> {
  const { databaseUrl, secretsKey } = config;
  const manifest =
    databaseUrl === undefined
      ? await withDatabase(config, ({ connection }) =>
          createBackup({ config, connection: connection as Connection }, store),
        )
      : await createBackup({ config, connection: null }, store);
  const notes = [
    databaseUrl === undefined ? '' : OWN_DATABASE,
    manifest.has_assets ? '' : 'The files of ASSETS_URL stay in their bucket and are not in it.',
    secretsKey === undefined ? '' : 'SECRETS_KEY is not in it: without that key the database cannot be used.',
  ].filter((note) => note !== '');
  const { json, text } = summaryOf(manifest, place);
  return { json: { ...json, notes }, text: [`Backed up ${text}. It holds secrets.`, ...notes].join('\n') };
}

async function restore(place: string, { config, store }: Place): Promise<Answer> {
  const { dataDir, assets } = config;
  const manifest = await readManifest(store, place);
  if (manifest.has_assets && assets.kind !== 'folder')
    throw new CommandError(
      'the backup holds files, and ASSETS_URL is a bucket: restore with ASSETS_URL unset or a folder',
    );
  await restoreBackup(store, manifest, { dataDir, assetsFolder: assets.kind === 'folder' ? assets.folder : null });
  const { json, text } = summaryOf(manifest, place);
  return { json: { ...json, data_dir: dataDir }, text: `Restored ${text} into ${dataDir}. Start the service.` };
}

async function verify(place: string, { config, store }: Place): Promise<Answer> {
  const manifest = await readManifest(store, place);
  const dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-verify-'));
  try {
    // As root the server runs as another user, who must be able to pass.
    chmodSync(dataDir, 0o711);
    await restoreBackup(store, manifest, { dataDir, assetsFolder: null });
    const { json, text } = summaryOf(manifest, place);
    if (manifest.database === null) return { json: { ok: true, ...json }, text: `Every byte is as it was: ${text}.` };
    const { databaseUrl: _, ...embedded } = config;
    const { accounts, findings } = await withSession(inspect, { ...embedded, dataDir });
    const ok = findings.length === 0;
    const verdict = ok ? 'everything adds up' : `${findings.length} findings; run doctor on a restored copy`;
    return {
      json: { ok, ...json, accounts, findings: findings.map(({ message }) => message) },
      text: `Every byte is as it was: ${text}.\nThe database starts. ${accounts} accounts checked: ${verdict}.`,
      ...(ok ? {} : { exitCode: 1 }),
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function summaryOf({ created_at, database, files }: Manifest, place: string) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const json = {
    place: place.split('?', 1)[0],
    created_at,
    files: files.length,
    bytes,
    stop_lsn: database?.stop_lsn ?? null,
  };
  return { json, text: `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, of ${created_at}` };
}
