import { expect, test } from 'vitest';
import { encodeJson, isLonger, packJson, unpackJson } from './long-json.ts';

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

const long = {
  text: `\u007f${'é"\\\n\u{1F600}'.repeat(30_000)}`,
  halves: '\ud83d\ude00\ud83d'.repeat(50_000),
  list: [null, true, 1.5, 'x'.repeat(70_000), [], {}, { deep: ['y'.repeat(300), '\u007f0', ''] }],
  ...JSON.parse('{"__proto__": "zzz", "a\\"b": {"__proto__": {"c": 1}}}'),
  left: undefined,
};

test('a long value is encoded as JSON.stringify does', async () => {
  expect(String(await encodeJson(long))).toBe(JSON.stringify(long));
  expect(JSON.parse(String(await encodeJson(long)))).toEqual(JSON.parse(JSON.stringify(long)));
  expect(await encodeJson({ a: 1 })).toBe('{"a":1}');
});

test('a value is the same after it was packed and unpacked', async () => {
  const value = { ...JSON.parse(JSON.stringify(long)), ...JSON.parse(`{"__proto__": "${'p'.repeat(300)}"}`) };
  const packed = packJson(value);
  expect(packed[0].length).toBeLessThan(1_000);
  expect(JSON.stringify(await unpackJson(packed))).toBe(JSON.stringify(value));
  for (const text of ['x', 'é', '漢', '\ud83d', '\0']) {
    const texts = [text.repeat(300), 'y'.repeat(40)];
    expect(await unpackJson(packJson(texts))).toEqual(texts);
  }
});
