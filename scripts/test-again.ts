// npm run test:again: the test files that failed in the last run, once more, one at a time. Tests share the machine with all others,
// and some wait for processes that others crowd out: what fails again, alone, is broken. Fails also when no failed file is known, and when
// too many have failed: then it is not the machine.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const REPORT = join(ROOT, 'node_modules/.cache/tests.json');
const REPEATED_MAX = 6;

export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Of a file whose hooks failed, or that could not be read. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** The files that failed, relative to `root`, each with its tests that did and why: the message of the file where its hooks did. */
export function failedIn({ testResults }: Report, root: string): Map<string, string[]> {
  const failed = testResults.filter(({ status }) => status !== 'passed');
  return new Map(
    failed.map(({ name, message = '', assertionResults }) => {
      const tests = assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages = [] }) => logOf(fullName, failureMessages.join('\n')));
      return [relative(root, name), tests.length > 0 ? tests : [logOf('hooks', message)]];
    }),
  );
}

const LOG_LINES_MAX = 12;

/** The name with the first lines of what it failed with. */
function logOf(name: string, message: string): string {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return [name, ...lines.slice(0, LOG_LINES_MAX).map((line) => `    ${line}`)].join('\n');
}

/** Why these files may not be repeated after those; null when they may. */
export function refusal(failed: readonly string[], earlier: readonly string[]): string | null {
  if (failed.length === 0) return 'no test file is known to have failed';
  const count = failed.length + earlier.length;
  return count > REPEATED_MAX ? `${count} test files failed: more than ${REPEATED_MAX} are not repeated` : null;
}

/** `REPEATED` names the file that several runs of one day of work share: .ci/run prints it in the end. */
function main(list: string | undefined): void {
  const failed = failedIn(JSON.parse(readFileSync(REPORT, 'utf8')) as Report, ROOT);
  const files = [...failed.keys()];
  const lines = [...failed].map(
    ([file, tests]) => `${[file, ...tests.map((test) => test.replaceAll(/^/gm, '    '))].join('\n')}\n`,
  );
  process.stdout.write(`failed:\n${lines.join('')}`);
  const earlier = list !== undefined && existsSync(list) ? readFileSync(list, 'utf8').match(/^\S.*$/gm) : null;
  if (list !== undefined) appendFileSync(list, lines.join(''));
  const refused = refusal(files, earlier ?? []);
  if (refused !== null) throw new Error(refused);
  console.log('once more, alone');
  const vitest = join(ROOT, 'node_modules/.bin/vitest');
  const { status } = spawnSync(vitest, ['run', '--maxWorkers=1', ...files], { cwd: ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

if (import.meta.main) main(process.env.REPEATED);
