// Runs every generator (scripts/gen-*.ts). With --check nothing is written and a file that is out of date is an error.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const generators = globSync('gen-*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts'] }).sort();
for (const generator of generators) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, generator), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error(`scripts/${generator} failed`);
    process.exitCode = 1;
  }
}
