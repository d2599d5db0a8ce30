// What checks found out in earlier runs, so that only what has changed is looked at again. It is kept in node_modules/.cache/check,
// which may be deleted at any time.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** Hashes of file contents by path from the root. */
export type Hashes = ReadonlyMap<string, string>;

const hashOf = (...parts: readonly (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest('hex');

/** Null when there is no such file: deleted and not yet committed, or a link to a folder. */
function contentOf(root: string, path: string): Buffer | null {
  try {
    return readFileSync(join(root, path));
  } catch (error) {
    if (['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** The files of a checkout that git does not ignore. */
export function projectFiles(root: string): Hashes {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 });
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  const hashes = new Map<string, string>();
  for (const path of stdout.split('\0').sort()) {
    const content = path === '' ? null : contentOf(root, path);
    if (content !== null) hashes.set(path, hashOf(content));
  }
  return hashes;
}

/** One hash for the files whose path matches, for the packages that are installed and for the Node that runs. */
export function fingerprint(root: string, files: Hashes, matches: RegExp): string {
  const lines = [...files].filter(([path]) => matches.test(path)).map(([path, hash]) => `${path} ${hash}\n`);
  return hashOf(process.version, contentOf(root, 'node_modules/.package-lock.json') ?? '', ...lines);
}

/** A value that one check keeps from run to run. */
export class Kept<T> {
  readonly #file: string;

  constructor(root: string, name: string) {
    this.#file = join(root, 'node_modules/.cache/check', `${name}.json`);
  }

  /** Null when nothing can be read. */
  read(): T | null {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as T;
    } catch {
      return null;
    }
  }

  write(value: T): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    const unfinished = `${this.#file}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(value));
    renameSync(unfinished, this.#file);
  }
}

interface Findings<T> {
  readonly madeBy: string;
  readonly files: Readonly<Record<string, readonly [hash: string, found: T]>>;
}

/**
 * What `look` finds in each file whose path matches `of`: it looks at those only that have changed since the last run, and at all of
 * them when a file that matches `madeBy`, or the installed packages, have. What it finds in one file must not depend on others.
 */
export function findingsByFile<T>(
  name: string,
  { of, madeBy, root = ROOT }: { readonly of: RegExp; readonly madeBy: RegExp; readonly root?: string },
  look: (changed: ReadonlyMap<string, string>) => ReadonlyMap<string, T>,
): Map<string, T> {
  const kept = new Kept<Findings<T>>(root, name);
  const all = projectFiles(root);
  const maker = fingerprint(root, all, madeBy);
  const before = kept.read();
  const earlier = before?.madeBy === maker ? before.files : {};
  const files = [...all].filter(([path]) => of.test(path));
  const isChanged = ([path, hash]: readonly [string, string]) => earlier[path]?.[0] !== hash;
  const changed = new Map(files.filter(isChanged).map(([path]) => [path, String(contentOf(root, path))]));
  const found = changed.size === 0 ? new Map<string, T>() : look(changed);
  const now = files.map(
    ([path, hash]) => [path, [hash, found.get(path) ?? earlier[path]?.[1]]] as [string, [string, T]],
  );
  kept.write({ madeBy: maker, files: Object.fromEntries(now) });
  return new Map(now.map(([path, [, value]]) => [path, value]));
}
