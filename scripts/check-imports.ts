// Runs dependency-cruiser over everything that is written here and asserts that it read the sources: with a TypeScript it cannot parse
// by, it reports "0 modules cruised" and succeeds.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'test', 'scripts', 'bench'];

interface CruiseSummary {
  readonly totalCruised: number;
  readonly totalDependenciesCruised: number;
  readonly violations: readonly {
    readonly from: string;
    readonly to: string;
    readonly rule: { readonly name: string };
  }[];
}

/** What breaks the rules in those of the folders that `root` has, one line each. */
export function importFaults(root: string): string[] {
  const folders = globSync(FOLDERS, { cwd: root });
  const { stdout, stderr } = spawnSync(
    join(ROOT, 'node_modules/.bin/depcruise'),
    [...folders, '--config', join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json'],
    { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, shell: process.platform === 'win32' },
  );
  if (stdout === '') throw new Error(`dependency-cruiser failed: ${stderr}`);
  const { summary } = JSON.parse(stdout) as { summary: CruiseSummary };
  const faults = summary.violations.map(({ from, to, rule }) => `${from} -> ${to}: ${rule.name}`);
  const sources = globSync(`{${FOLDERS.join(',')}}/**/*.ts`, { cwd: root, exclude: ['**/node_modules'] }).length;
  if (summary.totalCruised < sources || summary.totalDependenciesCruised === 0) {
    faults.push(
      `only ${summary.totalCruised} of ${sources} modules and ${summary.totalDependenciesCruised} imports were read`,
    );
  }
  return faults;
}

if (import.meta.main) {
  const faults = importFaults(ROOT);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
