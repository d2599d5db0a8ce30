import { expect, test } from 'vitest';
import { cleanJson, firstCharacters } from './clean-text.ts';

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
