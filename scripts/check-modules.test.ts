import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { missingIn } from './check-modules.ts';

function projectOf(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'modules-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const whole = {
  'README.md': '| flags | `flags/create` |',
  'CHANGELOG.md': '- Module `flags`.',
  'docs/flags.md': 'POST /v1/flags/create',
  'docs/architecture.md': '',
  'src/modules/flags/index.ts': '',
  'src/modules/flags/README.md': '# Flags\n\n## Contract\n',
  'src/modules/flags/tenants.fixture.ts': '',
  'src/modules/flags/console/index.ts': '',
  'test/flags/flags.test.ts': '',
};

test('a module that has everything lacks nothing', () => {
  expect(missingIn(projectOf(whole))).toEqual([]);
});

test.each([
  ['src/modules/flags/README.md', 'a README with its contract'],
  ['src/modules/flags/tenants.fixture.ts', 'src/modules/flags/tenants.fixture.ts'],
  ['src/modules/flags/console/index.ts', 'src/modules/flags/console/index.ts'],
  ['test/flags/flags.test.ts', 'tests in test/flags'],
  ['docs/flags.md', 'a guide in docs that shows a call'],
])('without %s it is told', (path, what) => {
  const { [path as keyof typeof whole]: _, ...rest } = whole;
  expect(missingIn(projectOf(rest))).toEqual([`flags: ${what}`]);
});

test.each([
  ['src/modules/flags/README.md', 'a README with its contract'],
  ['CHANGELOG.md', 'an entry in CHANGELOG.md'],
])('without a word in %s it is told', (path, what) => {
  expect(missingIn(projectOf({ ...whole, [path]: '' }))).toEqual([`flags: ${what}`]);
});

test('a call in a text for builders is no guide, and README has a line of its own', () => {
  const { 'docs/flags.md': guide, ...rest } = whole;
  const root = projectOf({ ...rest, 'docs/architecture.md': guide, 'README.md': '' });
  expect(missingIn(root)).toEqual(['flags: a guide in docs that shows a call', 'flags: a line in README.md']);
});
