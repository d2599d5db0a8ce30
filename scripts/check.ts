// npm run check: every check that needs no tests, as many at once as there are cores, all of them even when one fails, each named
// with its time.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '..');

/** The longest first. */
const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', 'tsc', '--project', '.'],
  ['types of pages’ scripts', 'tsc', '--project', 'src/surfaces/console/assets'],
  ['unused code', 'knip', '--no-progress'],
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['generated files', 'node', 'scripts/gen.ts', '--check'],
  ['import rules', 'node', 'scripts/check-imports.ts'],
  ['size', 'node', 'scripts/check-size.ts'],
  ['sql rules', 'node', 'scripts/check-sql.ts'],
];

async function run(command: string, args: string[]): Promise<{ passed: boolean; output: string }> {
  const child = spawn(join(ROOT, 'node_modules/.bin', command), args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const [code, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { passed: code === 0, output: `${stdout}${stderr}`.trimEnd() };
}

const failed: string[] = [];
const waiting = CHECKS.values();
/** Takes one check after the other until none waits. */
async function work(): Promise<void> {
  for (const [name, command, ...args] of waiting) {
    const startedMs = performance.now();
    const { passed, output } = await run(command, args);
    console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
    if (passed) continue;
    failed.push(name);
    console.log(output.replaceAll(/^/gm, '       '));
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
