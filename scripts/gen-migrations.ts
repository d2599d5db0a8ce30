// Writes migrations/checksums.json: the migrations that anybody may have applied, with what they said then. It only grows, for a database
// that has one in another text can never be upgraded.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrations } from '../src/db/migrate.ts';
import { generateMode, putGeneratedFile } from './generated-file.ts';

type Checksums = Readonly<Record<string, string>>;

const ROOT = join(import.meta.dirname, '..');
const LIST = 'migrations/checksums.json';

/** What is wrong with `now`, a sentence for each migration of `released` that is gone or has another text. */
export function findChanged(released: Checksums, now: Checksums): string[] {
  return Object.entries(released)
    .filter(([name, checksum]) => now[name] !== checksum)
    .map(([name]) =>
      now[name] === undefined
        ? `migrations/${name} is gone: it was committed, so databases have it; restore it`
        : `migrations/${name} has changed: it was committed, so databases have its first text; restore it and put the change into a new file`,
    );
}

/** As committed last, so that an entry cannot be edited away; none outside of a git checkout. */
function readCommitted(): Checksums {
  const { status, stdout } = spawnSync('git', ['show', `HEAD:${LIST}`], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? JSON.parse(stdout) : {};
}

if (import.meta.main) {
  const now = Object.fromEntries(
    readMigrations().map(({ fileName, checksum }): [string, string] => [fileName, checksum]),
  );
  let listed: Checksums = {};
  try {
    listed = JSON.parse(readFileSync(join(ROOT, LIST), 'utf8'));
  } catch {
    // The first time there is none.
  }
  const changed = findChanged({ ...listed, ...readCommitted() }, now);
  for (const sentence of changed) console.error(sentence);
  if (changed.length > 0) process.exitCode = 1;
  else putGeneratedFile(LIST, `${JSON.stringify(now, null, 2)}\n`, generateMode(process.argv));
}
