// npm run setup, which every command that needs it begins with: installs what only development needs, unless it is there. `npm ci` leaves
// it out: tools are the devDependencies of package.json; what only tests, benchmarks and examples bring (clients of other services, a
// browser, peers) has a package and a lock of its own in test/.

import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CLIENTS = join(ROOT, 'test');
/** They import clients too. */
const LINKED = ['bench', 'examples'];
const NAMED_MAX = 3;

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly optional?: boolean; readonly devOptional?: boolean }>
  >;
}

function readLock(path: string): Lock {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Lock) : { packages: {} };
}

/** Paths of the packages that the lock of a folder names and that are not there in that version, as npm noted it. */
export function missingIn(folder: string): string[] {
  const locked = readLock(join(folder, 'package-lock.json')).packages;
  const installed = readLock(join(folder, 'node_modules/.package-lock.json')).packages;
  return Object.entries(locked)
    .filter(([path, { optional, devOptional }]) => path !== '' && optional !== true && devOptional !== true)
    .filter(([path, { version }]) => installed[path]?.version !== version || !existsSync(join(folder, path)))
    .map(([path]) => path);
}

function install(folder: string, what: string, args: readonly string[]): void {
  const missing = missingIn(folder);
  if (missing.length === 0) return;
  const named = missing.slice(0, NAMED_MAX).map((path) => path.replace(/^.*node_modules\//, ''));
  console.log(
    `installing ${what}: ${missing.length} packages are missing or have changed (${named.join(', ')}${missing.length > NAMED_MAX ? ', …' : ''})`,
  );
  const { status } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed in ${folder}`);
}

/** Puts links to the project's own packages in place of the copies that clients have brought: tests and service share one `pg`. */
function shareOwnPackages(): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const versionOf = (path: string) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const copy = join(CLIENTS, 'node_modules', name);
    if (!existsSync(copy) || lstatSync(copy).isSymbolicLink()) continue;
    const own = join(ROOT, 'node_modules', name);
    if (versionOf(copy) !== versionOf(own))
      throw new Error(
        `test/package-lock.json has ${name} in another version than package-lock.json: tests would use it`,
      );
    rmSync(copy, { recursive: true });
    symlinkSync(relative(dirname(copy), own), copy, 'junction');
  }
}

function link(folder: string): void {
  const path = join(ROOT, folder, 'node_modules');
  if (existsSync(path)) return;
  rmSync(path, { force: true });
  symlinkSync(join('..', 'test', 'node_modules'), path, 'junction');
}

if (import.meta.main) {
  // No tool has a script that it needs, and the service need not be bundled again.
  install(ROOT, 'the tools', ['install', '--include=dev', '--ignore-scripts']);
  install(CLIENTS, 'what tests bring', ['ci']);
  shareOwnPackages();
  for (const folder of LINKED) link(folder);
}
