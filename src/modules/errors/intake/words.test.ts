import { expect, test } from 'vitest';
import { valueWord, wordsOf } from './words.ts';

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
