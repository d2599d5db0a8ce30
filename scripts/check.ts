// npm run check: every check that needs no tests, as many at once as there are cores, all of them even when one fails, each named
// with its time. A check whose files have not changed since it passed is not run again, unless --all asks for it.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fingerprint, Kept, projectFiles, ROOT } from './remembered.ts';

interface Check {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** The files that its outcome depends on, beside the packages that are installed. */
  readonly reads: RegExp;
}

const CODE = /[.](?:ts|js|cjs|mjs|json|css|html|wat|sql)$/;
const ANYTHING = /./;
const TSC = 'node_modules/typescript-7/bin/tsc';

/** The longest first. */
const CHECKS: readonly Check[] = [
  { name: 'types', command: ['node', TSC, '--project', '.'], reads: CODE },
  { name: 'unused code', command: ['knip', '--no-progress', '--cache'], reads: CODE },
  {
    name: 'floating promises',
    command: ['biome', 'lint', '--config-path=biome.promises.json', '--only=nursery/noFloatingPromises', '.'],
    reads: CODE,
  },
  { name: 'import rules', command: ['node', 'scripts/check-imports.ts'], reads: CODE },
  { name: 'generated files', command: ['node', 'scripts/gen.ts', '--check'], reads: ANYTHING },
  { name: 'lint and format', command: ['node', 'scripts/check-style.ts'], reads: ANYTHING },
  { name: 'names', command: ['node', 'scripts/check-names.ts'], reads: CODE },
  { name: 'literals', command: ['node', 'scripts/check-literals.ts'], reads: CODE },
  { name: 'size', command: ['node', 'scripts/check-size.ts'], reads: CODE },
  { name: 'modules', command: ['node', 'scripts/check-modules.ts'], reads: ANYTHING },
  { name: 'words', command: ['node', 'scripts/check-words.ts'], reads: /[.]md$|^scripts\// },
  { name: 'tests', command: ['node', 'scripts/check-tests.ts'], reads: /[.]test[.]ts$|^scripts\// },
  { name: 'sql rules', command: ['node', 'scripts/check-sql.ts'], reads: CODE },
  {
    name: 'types of pages’ scripts',
    command: ['node', TSC, '--project', 'src/surfaces/console/assets'],
    reads: CODE,
  },
  {
    name: 'types of the documentation’s script',
    command: ['node', TSC, '--project', 'src/surfaces/documents/docs/assets'],
    reads: CODE,
  },
];

async function run([command, ...args]: Check['command']): Promise<{ passed: boolean; output: string }> {
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

const files = projectFiles(ROOT);
const kept = new Kept<Record<string, string>>(ROOT, 'passed');
const passedBefore = process.argv.includes('--all') ? {} : (kept.read() ?? {});
const passedNow: Record<string, string> = {};
const failed: string[] = [];
const waiting = CHECKS.values();

/** Takes one check after the other until none waits. */
async function work(): Promise<void> {
  for (const { name, command, reads } of waiting) {
    const state = fingerprint(ROOT, files, reads);
    if (passedBefore[name] === state) {
      passedNow[name] = state;
      console.log(`ok     ${name} (unchanged)`);
      continue;
    }
    const startedMs = performance.now();
    const { passed, output } = await run(command);
    console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
    if (passed) passedNow[name] = state;
    else failed.push(name);
    if (!passed) console.log(output.replaceAll(/^/gm, '       '));
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
kept.write(passedNow);
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
