import { expect, test } from 'vitest';
import { isLonger } from './kept.ts';

test.each([
  ['a long text', 'x'.repeat(101), true],
  ['a text that just fits', 'x'.repeat(100), false],
  ['texts that are long together', { a: ['x'.repeat(60)], b: { c: 'x'.repeat(60) } }, true],
  ['many values', Array.from({ length: 101 }, () => null), true],
  ['few values', { a: [1, null, true], b: {} }, false],
  ['deep ones', JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`), true],
])('%s: %#', (_, value, isTooLong) => {
  expect(isLonger(value, 100)).toBe(isTooLong);
});

test('what is found longer has more characters as JSON', () => {
  const values = [{ a: 'é\n' }, [[], {}, [1, 2]], 'x', { deep: { text: 'y'.repeat(9) } }, null];
  for (const value of values) expect(isLonger(value, JSON.stringify(value).length)).toBe(false);
});
