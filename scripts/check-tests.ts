// Tests of `npm test` wait for what must happen and count work: none sleeps, bounds time, or starts a service where the shared one would
// do. What must do so says why on the line above it, or is a long test, whose bounds of time hold on an idle machine alone. Files of these
// names are looked at; what they share is not.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findingsByFile, ROOT } from './remembered.ts';

/** How many of a file are from before this check: none may come, and what goes leaves the list (`-- --less` writes it anew). */
const LEFT = join(ROOT, 'scripts/waits-left.json');

interface Rule {
  readonly pattern: RegExp;
  /** What the line above begins with where it must be. */
  readonly reason: string;
  readonly message: string;
}

const RULES: readonly Rule[] = [
  {
    pattern: /\bawait (?:sleep|setTimeout|delay|pause)\(\s*[\d_]{2,}|new Promise\(.*\bsetTimeout\(/,
    reason: '// sleeps: ',
    message: 'sleeps: wait for what must happen (vi.waitFor, expect.poll, an event, the test clock)',
  },
  {
    pattern:
      /\b(?:allowedMs|idleMsOf)\(|expect\(.*(?:performance\.now\(\)|Date\.now\(\)|elapsedMs|tookMs).*\)[.]toBeLess/,
    reason: '// bounds time: ',
    message: 'bounds time: count work, or processor time with a margin of three, or make it a long test',
  },
  {
    pattern: /\bstartTestService\(\)/,
    reason: '// own service: ',
    message: 'starts a service with the defaults: use sharedService()',
  },
];
/** Long tests may bound time, where it is meant to be: `allowedMs` lets any time pass in CI, whose machine may be slow. */
const LONG_RULE: Rule = {
  pattern: /expect\((?!.*allowedMs\().*(?:performance\.now\(\)|elapsedMs|tookMs).*\)[.]toBeLess/,
  reason: '// bounds time: ',
  message: 'bounds time: by allowedMs() of test/support/slowness.ts',
};
/** What must be read on the lines above, so that a reason may stand before a statement of several lines. */
const LINES_ABOVE = 2;

/** What in the source of a test needs another way, or a reason. */
export function findWaits(path: string, source: string): string[] {
  const lines = source.split('\n');
  const rules = LONG.test(path) ? [LONG_RULE] : RULES;
  return lines.flatMap((line, at) =>
    rules
      .filter(({ pattern, reason }) => {
        // A loop of one line asks again and again.
        if (/\b(?:for|while) \(/.test(line)) return false;
        const above = lines.slice(Math.max(0, at - LINES_ABOVE), at + 1);
        return pattern.test(line) && !above.some((each) => each.includes(reason));
      })
      .map(({ message, reason }) => `${path}:${at + 1} ${message}; or say why above it: ${reason}…`),
  );
}

const TESTS = /^(?:test|src|scripts|bench)\/(?!check-tests)(?!.*node_modules).*\.test\.ts$/;
const LONG = /\.(?:long|alone)\.test\.ts$/;

if (import.meta.main) {
  const found = findingsByFile<string[]>(
    'tests',
    { of: TESTS, madeBy: /^scripts\/check-tests[.]ts$/ },
    (changed) => new Map([...changed].map(([path, source]) => [path, findWaits(path, source)])),
  );
  const left = JSON.parse(readFileSync(LEFT, 'utf8')) as Readonly<Record<string, number>>;
  const counts = new Map([...found].map(([path, problems]) => [path, problems.length]));
  const more = [...found].filter(([path, problems]) => problems.length > (left[path] ?? 0));
  for (const problem of more.flatMap(([, problems]) => problems)) console.error(problem);
  const fewer = Object.keys(left).filter((path) => (counts.get(path) ?? 0) < (left[path] ?? 0));
  if (process.argv.includes('--less')) {
    const now = [...counts].filter(([path, count]) => count > 0 && count <= (left[path] ?? 0)).sort();
    writeFileSync(LEFT, `${JSON.stringify(Object.fromEntries(now), null, 2)}\n`);
  } else if (fewer.length > 0)
    console.error(`fewer than scripts/waits-left.json says (node scripts/check-tests.ts --less): ${fewer.join(', ')}`);
  process.exitCode = more.length + fewer.length === 0 ? 0 : 1;
}
