// Lint and format of the files that have changed since they passed. What must be known of other files, whether a promise is left
// floating, is a check of its own: for it Biome reads the whole project, also to check a single file.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findingsByFile, ROOT } from './remembered.ts';

/** One command line holds so many paths on every system. */
const NAMED_MAX = 300;

function check(changed: ReadonlyMap<string, string>): Map<string, true> {
  const paths = changed.size > NAMED_MAX ? ['.'] : [...changed.keys()];
  const { status } = spawnSync(
    join(ROOT, 'node_modules/.bin/biome'),
    ['check', '--error-on-warnings', '--no-errors-on-unmatched', '--files-ignore-unknown=true', ...paths],
    { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' },
  );
  if (status !== 0) process.exit(1);
  return new Map([...changed.keys()].map((path) => [path, true]));
}

findingsByFile(
  'style',
  { of: /./, madeBy: /^(?:biome[.]json|package[.]json|[.]gitignore|scripts\/check-style[.]ts)$/ },
  check,
);
