// npm run test:again: the test files that failed in the last run, once more, one at a time. Tests share the machine with all others,
// and some wait for processes that others crowd out: what fails again, alone, is broken. Fails also when no failed file is known.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const REPORT = join(ROOT, 'node_modules/.cache/tests.json');

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

const { testResults } = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
const failed = testResults.filter(({ status }) => status !== 'passed').map(({ name }) => relative(ROOT, name));
if (failed.length === 0) throw new Error('no test file is known to have failed');
process.stdout.write(`once more, alone:\n${failed.map((file) => `  ${file}\n`).join('')}`);
const vitest = join(ROOT, 'node_modules/.bin/vitest');
const { status } = spawnSync(vitest, ['run', '--maxWorkers=1', ...failed], { cwd: ROOT, stdio: 'inherit' });
process.exitCode = status ?? 1;
