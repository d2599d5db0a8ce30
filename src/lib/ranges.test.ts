import { describe, expect, test } from 'vitest';
import { partOf } from './ranges.ts';

const content = { length: 100, etag: '"v1"', lastModifiedMs: Date.UTC(2026, 10, 1, 12, 0, 0, 500) };
const part = (range: string, condition?: string) =>
  partOf({ range, ...(condition === undefined ? {} : { 'if-range': condition }) }, content);

describe('a range', () => {
  test.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-500', { start: 90, end: 99 }],
    ['bytes=-5', { start: 95, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['Bytes=99-99', { start: 99, end: 99 }],
  ])('%s is a part', (range, expected) => {
    expect(part(range)).toEqual(expected);
  });

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('%s is beyond the content', (range) => {
    expect(part(range)).toBe('none');
  });

  test.each(['bytes=9-0', 'bytes=0-1,5-6', 'bytes=a-b', 'items=0-1', 'bytes=-', 'bytes=99999999999999999-'])(
    '%s is none that is taken',
    (range) => {
      expect(part(range)).toBe('whole');
    },
  );

  test('holds only for the content that the client has', () => {
    const first = { start: 0, end: 9 };
    expect(part('bytes=0-9', '"v1"')).toEqual(first);
    expect(part('bytes=0-9', 'Sun, 01 Nov 2026 12:00:00 GMT')).toEqual(first);
    for (const other of ['"v2"', 'W/"v1"', 'Sun, 01 Nov 2026 12:00:01 GMT', 'yesterday']) {
      expect(part('bytes=0-9', other), other).toBe('whole');
    }
  });
});
