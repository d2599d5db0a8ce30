import { expect, test } from 'vitest';
import { findSpreads } from './check-literals.ts';

test('a literal that is spread into a literal is told by its line', () => {
  expect(findSpreads('a.ts', 'const a = {\n  ...{ b: 1, c: 2 },\n};\ncall({ ...{} });')).toEqual([2, 4]);
});

test('what is spread by a condition, from a name or a call, and lists are none', () => {
  const source = 'const a = { ...b, ...c(), ...(d ? { e: 1 } : {}) };\nconst f = [...[1, 2]];';
  expect(findSpreads('a.ts', source)).toEqual([]);
});
