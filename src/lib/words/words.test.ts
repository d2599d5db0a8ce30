import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachWord, holdsWords, searchedWords, storedWords } from './words.ts';

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

test.each([
  ['pay declined', true],
  ['card_declined', true],
  ['declined car', true],
  ['declined cart', false],
  ['', true],
])('a text is an answer to %j: %s', (q, is) => {
  expect(holdsWords(storedWords(['Pay: card_declined']), searchedWords(q))).toBe(is);
});

test('each word that a text is found by is seen', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('fooBar_baz9 XMLHttp É')), { maxLength: 5 }),
      (texts) => {
        const seen = new Set<string>();
        const known = new Set<string>();
        for (const text of texts) eachWord(text, known, (word) => seen.add(word));
        expect(storedWords(texts).filter((word) => !seen.has(word))).toEqual([]);
      },
    ),
  );
});
