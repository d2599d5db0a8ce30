import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

const at = (folder: string, workingFolder: string) => commandLine('doctor', { folder, workingFolder });

test.each([
  ['a checkout', '/opt/quartermaster/src/lib', '/opt/quartermaster', 'npm run --silent qm -- doctor'],
  ['a container', '/app/src/lib', '/data', '/app/bin/qm doctor'],
  ['the npm package', '/srv/node_modules/quartermaster/dist/src/lib', '/srv', 'npx quartermaster qm doctor'],
])('in %s a command is called as it works there', (_name, folder, workingFolder, line) => {
  expect(at(folder, workingFolder)).toBe(line);
});

test('by itself it finds where it is', () => {
  const root = join(import.meta.dirname, '../..');
  expect(commandLine('doctor', { workingFolder: root })).toBe('npm run --silent qm -- doctor');
});
