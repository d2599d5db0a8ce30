import { describe, expect, test } from 'vitest';
import { snippetOf } from './answers.ts';

const bytes = (...values: number[]) => Buffer.from(values);

describe('snippets of answers', () => {
  test.each([
    [Buffer.from('plain é 漢 😀'), 'plain é 漢 😀'],
    [bytes(0x61, 0x00, 0x62), 'a\uFFFDb'],
    [bytes(0x61, 0xff), 'a\uFFFD'],
    [bytes(0xed, 0xa0, 0x80), '\uFFFD\uFFFD\uFFFD'],
    [bytes(0xef, 0xbb, 0xbf, 0x61), '\uFEFFa'],
    [bytes(0x61, 0xe6, 0xbc), 'a\uFFFD'],
    [Buffer.alloc(0), ''],
  ])('%j becomes %j', (input, expected) => {
    expect(snippetOf(input, 1024, false)).toBe(expected);
  });

  test('half a character where the bytes were cut is dropped', () => {
    expect(snippetOf(Buffer.from('a漢').subarray(0, 3), 1024, true)).toBe('a');
  });

  test('the text never takes more bytes than allowed, and ends with a whole character', () => {
    expect(snippetOf(Buffer.alloc(1024, 0xff), 1024, true)).toBe('\uFFFD'.repeat(341));
    expect(snippetOf(Buffer.alloc(1024), 1024, true)).toBe('\uFFFD'.repeat(341));
    expect(snippetOf(Buffer.from(`ab${'😀'.repeat(2)}`), 7, false)).toBe('ab😀');
  });
});
