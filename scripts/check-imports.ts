// Runs dependency-cruiser over src/ and asserts that it read the sources: with a TypeScript it cannot parse by, it reports
// "0 modules cruised" and succeeds.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

interface CruiseSummary {
  readonly totalCruised: number;
  readonly totalDependenciesCruised: number;
  readonly violations: readonly {
    readonly from: string;
    readonly to: string;
    readonly rule: { readonly name: string };
  }[];
}

const { stdout, stderr } = spawnSync(
  join(ROOT, 'node_modules/.bin/depcruise'),
  ['src', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'],
  { cwd: ROOT, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, shell: process.platform === 'win32' },
);
if (stdout === '') throw new Error(`dependency-cruiser failed: ${stderr}`);
const { summary } = JSON.parse(stdout) as { summary: CruiseSummary };

const problems = summary.violations.map(({ from, to, rule }) => `${from} -> ${to}: ${rule.name}`);
const sources = globSync('src/**/*.ts', { cwd: ROOT }).length;
if (summary.totalCruised < sources || summary.totalDependenciesCruised === 0) {
  problems.push(`only ${summary.totalCruised} of ${sources} modules were read`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
