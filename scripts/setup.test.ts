import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { missingIn } from './setup.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-setup-'));
  mkdirSync(join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (path: string, packages: object) => writeFileSync(join(folder, path), JSON.stringify({ packages }));
const LOCK = {
  '': { name: 'a-project' },
  'node_modules/one': { version: '1.0.0' },
  'node_modules/two': { version: '2.0.0', dev: true },
  'node_modules/of-another-system': { version: '1.0.0', optional: true },
};

it('everything is missing before the first installation, but what other systems need', () => {
  put('package-lock.json', LOCK);
  expect(missingIn(folder)).toEqual(['node_modules/one', 'node_modules/two']);
});

it('a package of another version is missing', () => {
  put('package-lock.json', LOCK);
  put('node_modules/.package-lock.json', {
    'node_modules/one': { version: '1.0.0' },
    'node_modules/two': { version: '1.9.0' },
  });
  for (const name of ['one', 'two']) mkdirSync(join(folder, 'node_modules', name));
  expect(missingIn(folder)).toEqual(['node_modules/two']);
});

it('a package that npm has noted and that is not there is missing', () => {
  put('package-lock.json', LOCK);
  put('node_modules/.package-lock.json', LOCK);
  mkdirSync(join(folder, 'node_modules/one'));
  expect(missingIn(folder)).toEqual(['node_modules/two']);
});

it('nothing is missing when all has been installed', () => {
  put('package-lock.json', LOCK);
  put('node_modules/.package-lock.json', LOCK);
  for (const name of ['one', 'two']) mkdirSync(join(folder, 'node_modules', name));
  expect(missingIn(folder)).toEqual([]);
});
