import { expect, test } from 'vitest';
import { searchedWords, storedWords, valueWord } from './words.ts';

test('words are runs of letters, digits and underscores in lower case, each once', () => {
  expect(storedWords(["TypeError: can't read user_id of undefined (foo.bar)", null, 'typeerror 42'])).toEqual([
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
    'type',
    'error',
    'user',
    'id',
  ]);
});

test.each([
  ['XMLHttpRequest parseHTTPResponse', 'xml http request parse response'],
  ['card_declined __init__', 'card declined init'],
  ['sha256 s3bucket oauth2client', 'sha 256 bucket oauth client'],
  ['GrößenFehler naïveTest 数据库2', 'größen fehler naïve test 数据库'],
  ['plain ERROR 404 x86 i18n', ''],
  ['550e8400-e29b-41d4-a716-446655440000 9f86d081884c7d65', ''],
])('the parts of %j are %j', (text, parts) => {
  const stored = storedWords([text]);
  const whole = text.match(/[\p{L}\p{N}_]+/gu) as string[];
  expect(stored).toEqual([...whole.map((word) => word.toLowerCase()), ...(parts === '' ? [] : parts.split(' '))]);
});

test('a question has its words as they are typed, and the last one as a beginning', () => {
  expect(searchedWords('Card_Declined pay checkout/Price.t')).toEqual({
    whole: ['card_declined', 'pay', 'checkout', 'price'],
    prefix: 't',
  });
  expect(searchedWords('& | !')).toEqual({ whole: [], prefix: null });
});

test('all scripts have words; composed and decomposed letters are the same to a reader', () => {
  expect(storedWords(['Größe שלום 数据库 e\u0301té'])).toEqual(['größe', 'שלום', '数据库', 'été']);
});

test('no input fails or grows without bound', () => {
  expect(storedWords(['& | ! :* <-> \\ \' " () %_$1'])).toEqual(['_', '1']);
  expect(storedWords([Array.from({ length: 1_000 }, (_, i) => `wordNumber${i}`).join(' ')])).toHaveLength(500);
  expect(storedWords(['x'.repeat(1_000_000)])).toEqual(['x'.repeat(64)]);
  expect(storedWords(['\ud800\udfff\0'])).toEqual([]);
});

test('the mark of a value is no word of any text, and differs by field and value', () => {
  expect(storedWords([valueWord('level', 'error')])).not.toContain(valueWord('level', 'error'));
  expect(valueWord('tags.a', 'b')).not.toBe(valueWord('tags.a', 'c'));
  expect(valueWord('release', 'b')).not.toBe(valueWord('user_id', 'b'));
});
