// A generated file is committed: `write` brings it up to date, `check` fails when it is not.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

export type GenerateMode = 'write' | 'check';

export const generateMode = (args: readonly string[]): GenerateMode => (args.includes('--check') ? 'check' : 'write');

/** In mode `check` a file that differs is named, with its first such line, and the process will exit with 1. */
export function putGeneratedFile(path: string, content: string, mode: GenerateMode): void {
  const file = join(ROOT, path);
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (current === content) return;
  if (mode === 'check') {
    console.error(
      `${path} is out of date (line ${firstDifference(current, content)}): run npm run gen and commit the result`,
    );
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, content);
  console.log(`wrote ${path}`);
}

function firstDifference(current: string, wanted: string): number {
  const lines = current.split('\n');
  return wanted.split('\n').findIndex((line, index) => line !== lines[index]) + 1 || lines.length;
}
