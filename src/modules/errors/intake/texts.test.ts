import { expect, test } from 'vitest';
import { cleanJson, firstCharacters, valueWord, wordsOf } from './texts.ts';

test('NUL and lone surrogates become U+FFFD in names and values, everything else stays', () => {
  expect(cleanJson({ 'a\0': ['b\ud800', 1, null, true], deep: { e: '😀 שלום é' } })).toEqual({
    'a\ufffd': ['b\ufffd', 1, null, true],
    deep: { e: '😀 שלום é' },
  });
});

test('what is clean is shared, and what is not is read once however deep it lies', () => {
  const clean = { a: [{ b: 'c' }], d: 1 };
  expect(cleanJson(clean)).toBe(clean);
  let deep: unknown = '\0';
  for (let i = 0; i < 100; i += 1) deep = i % 2 === 0 ? [deep] : { 'x\0': deep };
  expect(JSON.stringify(cleanJson(deep))).not.toContain('\\u0000');
});

test('the first characters of a text never end in half an emoji', () => {
  expect(firstCharacters('😀'.repeat(130), 120)).toBe('😀'.repeat(120));
  expect(firstCharacters('short', 120)).toBe('short');
  expect(firstCharacters(`${'a'.repeat(119)}😀b`, 120)).toBe(`${'a'.repeat(119)}😀`);
});

test('words are runs of letters, digits and underscores in lower case, each once', () => {
  expect(wordsOf(["TypeError: can't read user_id of undefined (foo.bar)", null, 'typeerror 42'])).toEqual([
    'typeerror',
    'can',
    't',
    'read',
    'user_id',
    'of',
    'undefined',
    'foo',
    'bar',
    '42',
  ]);
});

test('all scripts have words; composed and decomposed letters are the same to a reader', () => {
  expect(wordsOf(['Größe שלום 数据库 e\u0301té'])).toEqual(['größe', 'שלום', '数据库', 'été']);
});

test('no input fails or grows without bound', () => {
  expect(wordsOf(['& | ! :* <-> \\ \' " () %_$1'])).toEqual(['_', '1']);
  expect(wordsOf([Array.from({ length: 1_000 }, (_, i) => `w${i}`).join(' ')])).toHaveLength(300);
  expect(wordsOf(['x'.repeat(1_000_000)])).toEqual(['x'.repeat(64)]);
  expect(wordsOf(['\ud800\udfff\0'])).toEqual([]);
});

test('the mark of a value is no word of any text, and differs by field and value', () => {
  expect(wordsOf([valueWord('level', 'error')])).not.toContain(valueWord('level', 'error'));
  expect(valueWord('tags.a', 'b')).not.toBe(valueWord('tags.a', 'c'));
  expect(valueWord('release', 'b')).not.toBe(valueWord('user_id', 'b'));
});
