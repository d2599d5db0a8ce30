import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findingsByFile, fingerprint, projectFiles } from './remembered.ts';

let root: string;
const put = (path: string, content: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'quartermaster-remembered-'));
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  put('.gitignore', 'node_modules\n');
  put('rules.ts', '1');
  put('src/a.ts', 'a');
  put('src/b.ts', 'b');
});
afterEach(() => rmSync(root, { recursive: true }));

/** Which files were looked at, and what is known of all. */
function look(): { seen: string[]; found: Record<string, string> } {
  const seen: string[] = [];
  const found = findingsByFile('letters', { of: /^src\//, madeBy: /^rules[.]ts$/, root }, (changed) => {
    seen.push(...changed.keys());
    return new Map([...changed].map(([path, source]) => [path, source.toUpperCase()]));
  });
  return { seen, found: Object.fromEntries(found) };
}

it('looks only at files that have changed, and knows of the others what it found', () => {
  expect(look()).toEqual({ seen: ['src/a.ts', 'src/b.ts'], found: { 'src/a.ts': 'A', 'src/b.ts': 'B' } });
  put('src/b.ts', 'c');
  put('src/new.ts', 'n');
  expect(look()).toEqual({
    seen: ['src/b.ts', 'src/new.ts'],
    found: { 'src/a.ts': 'A', 'src/b.ts': 'C', 'src/new.ts': 'N' },
  });
  rmSync(join(root, 'src/b.ts'));
  expect(look()).toEqual({ seen: [], found: { 'src/a.ts': 'A', 'src/new.ts': 'N' } });
});

it.each([
  ['a rule', 'rules.ts'],
  ['an installed package', 'node_modules/.package-lock.json'],
])('looks at all files again when %s has changed', (_, path) => {
  look();
  put(path, '2');
  expect(look().seen).toEqual(['src/a.ts', 'src/b.ts']);
});

it('keeps nothing of a look that failed', () => {
  const fails = () => {
    throw new Error('a rule is broken');
  };
  expect(() => findingsByFile('letters', { of: /^src\//, madeBy: /^rules[.]ts$/, root }, fails)).toThrow('broken');
  expect(look().seen).toEqual(['src/a.ts', 'src/b.ts']);
});

it('a fingerprint stands for the files that match, committed or not, and for what is installed', () => {
  const of = (matches: RegExp) => fingerprint(root, projectFiles(root), matches);
  const [all, some] = [of(/./), of(/^src\//)];
  put('notes.md', 'text');
  expect(of(/./)).not.toBe(all);
  expect(of(/^src\//)).toBe(some);
  put('node_modules/.package-lock.json', '{}');
  expect(of(/^src\//)).not.toBe(some);
});
