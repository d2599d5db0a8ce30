// README loads fast: its pictures are there, light and dark, and none is large.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const BYTES_MAX = 200 * 1_024;
const root = join(import.meta.dirname, '..');
const pictures = readFileSync(join(root, 'README.md'), 'utf8').match(/docs\/pictures\/[\w-]+\.webp/g) ?? [];

it('README shows the overview light and dark', () => {
  expect(pictures).toEqual(['docs/pictures/overview-dark.webp', 'docs/pictures/overview-light.webp']);
});

it.each(pictures)('%s has at most 200 kB', (path) => {
  expect(statSync(join(root, path)).size).toBeLessThanOrEqual(BYTES_MAX);
});
