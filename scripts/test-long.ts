// npm run test:part: of the long test files the part that is this commit's turn. They are too many for every commit; each part has a file of
// every folder, more or less, and so many commits in a row run them all. npm run test:alone: what measures processor time, one by one.
// What bounds time by the clock, as its first line says, is left to `npm run test:long` on a machine that is idle. PART, as 3/8, names
// another part than the commit's: .ci/run sets it, so that a repeat has the same.
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PARTS = 8;

/** The files of this part, the first being 0, and all that run alone. */
export function filesOf(part: number, files: readonly string[]): string[] {
  const [alone, long] = [
    files.filter((file) => file.includes('.alone.')),
    files.filter((file) => file.includes('.long.')),
  ];
  return [...long.sort().filter((_, place) => place % PARTS === part), ...alone.sort()];
}

/** Many commits in a row have each part once. */
function partOfCommit(): string {
  const commits = Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }));
  return `${commits % PARTS}/${PARTS}`;
}

/** By the clock; processor time does not hang on how busy the machine is. */
export function boundsTime(source: string): boolean {
  return source.startsWith('// Bounds time: ');
}

if (import.meta.main) {
  const { PART = partOfCommit() } = process.env;
  const all = globSync('test/**/*.{long,alone}.test.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  const files = filesOf(
    Number.parseInt(PART, 10),
    all.filter((file) => !boundsTime(readFileSync(join(ROOT, file), 'utf8'))),
  );
  const isAlone = process.argv[2] === 'alone';
  const wanted = files.filter((file) => file.includes('.alone.') === isAlone);
  console.log(`part ${PART}, the first being 0: ${wanted.length} files`);
  // Two at a time: they also wait, and start browsers and processes of their own.
  const { status } = spawnSync(
    join(ROOT, 'node_modules/.bin/vitest'),
    ['run', `--maxWorkers=${isAlone ? 1 : 2}`, '--project', isAlone ? 'alone' : 'integration', ...wanted],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PART } },
  );
  process.exitCode = status ?? 1;
}
