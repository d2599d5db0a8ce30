import { describe, expect, it } from 'vitest';
import { findCrowds, findOversize, measure } from './check-size.ts';

const oversizeOf = (source: string) => findOversize('a.ts', measure('a.ts', source));
const lines = (count: number) => '  a();\n'.repeat(count);

describe('findOversize', () => {
  it('accepts files and functions at the limit', () => {
    expect(oversizeOf('a();\n'.repeat(400))).toEqual([]);
    expect(oversizeOf(`function a() {\n${lines(58)}}\n`)).toEqual([]);
  });

  it('names a file that is too long', () => {
    expect(oversizeOf('a();\n'.repeat(401))).toEqual([{ what: 'a.ts', line: 1, lines: 401, linesMax: 400 }]);
  });

  it.each([
    ['function', `function long() {\n${lines(79)}}`],
    ['arrow', `const long = () => {\n${lines(79)}};`],
    ['method', `class A { long() {\n${lines(79)}} }`],
    ['property', `const a = { long: async () => {\n${lines(79)}} };`],
  ])('names a %s that is too long', (_kind, source) => {
    expect(oversizeOf(source)).toEqual([{ what: 'a.ts#long', line: 1, lines: 81, linesMax: 80 }]);
  });

  it('takes describe for a list', () => {
    expect(findOversize('a.test.ts', measure('a.test.ts', `describe('a', () => {\n${lines(80)}});`))).toEqual([]);
    expect(findOversize('a.test.ts', measure('a.test.ts', `it('a', () => {\n${lines(80)}});`))).toHaveLength(1);
  });
});

describe('findCrowds', () => {
  const files = (folder: string, count: number) => Array.from({ length: count }, (_, i) => `src/${folder}/${i}.ts`);
  const folders = ['a', 'b', 'c', 'd'].flatMap((folder) => files(folder, 15));

  it('accepts one crowded folder of five', () => {
    expect(findCrowds([...folders, ...files('e', 16)])).toEqual([]);
  });

  it('names folders when too many are crowded', () => {
    expect(findCrowds([...folders.slice(15), ...files('e', 16)])).toEqual([
      'four of five folders may hold 15 files; more are in src/e (16)',
    ]);
  });
});
