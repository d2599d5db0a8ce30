import { expect, test } from 'vitest';
import { boundsTime, filesOf } from './test-long.ts';

const long = Array.from({ length: 19 }, (_, n) => `test/a/${n}.long.test.ts`);
const alone = ['test/b/turns.alone.test.ts'];

test('all parts run every long file once, and each of them what runs alone', () => {
  const parts = [0, 1, 2, 3, 4, 5, 6, 7].map((part) => filesOf(part, [...alone, ...long]));
  for (const part of parts) expect(part).toContain(alone[0]);
  const run = parts.flat().filter((file) => file !== alone[0]);
  expect(run.sort()).toEqual([...long].sort());
});

test.each([
  ['// Bounds time: pages are painted within a second.\nimport', true],
  ['// Bounds processor time: documents are rendered on the event loop.\nimport', false],
  ['// How pages look.\n// Bounds time: never', false],
])('%j bounds time: %s', (source, bounds) => {
  expect(boundsTime(source)).toBe(bounds);
});
