import { describe, expect, it } from 'vitest';
import { findOversize } from './check-size.ts';

const lines = (count: number) => '  a();\n'.repeat(count);

describe('findOversize', () => {
  it('accepts files and functions at the limit', () => {
    expect(findOversize('a.ts', 'a();\n'.repeat(300))).toEqual([]);
    expect(findOversize('a.ts', `function a() {\n${lines(58)}}\n`)).toEqual([]);
  });

  it('names a file that is too long', () => {
    expect(findOversize('a.ts', 'a();\n'.repeat(301))).toEqual([{ what: 'a.ts', line: 1, lines: 301, linesMax: 300 }]);
  });

  it.each([
    ['function', `function long() {\n${lines(59)}}`],
    ['arrow', `const long = () => {\n${lines(59)}};`],
    ['method', `class A { long() {\n${lines(59)}} }`],
    ['property', `const a = { long: async () => {\n${lines(59)}} };`],
  ])('names a %s that is too long', (_kind, source) => {
    expect(findOversize('a.ts', source)).toEqual([{ what: 'a.ts#long', line: 1, lines: 61, linesMax: 60 }]);
  });

  it('takes describe for a list', () => {
    expect(findOversize('a.test.ts', `describe('a', () => {\n${lines(80)}});`)).toEqual([]);
    expect(findOversize('a.test.ts', `it('a', () => {\n${lines(80)}});`)).toHaveLength(1);
  });
});
