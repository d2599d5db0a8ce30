import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../problems/problem.ts';
import { decodeCursor, encodeCursor, page } from './cursors.ts';
import { Secrets } from './secrets.ts';

const secrets = new Secrets('a server secret of tests, long enough');
const binding = ['acct_anon_1', 'queue.list', 'prefix=a'];

const expectInvalid = (act: () => unknown) => {
  expect(act).toThrow(Problem);
  expect(act).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR', param: 'cursor' }));
};

describe('cursors', () => {
  test('a cursor answers the position it was made of', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer())), fc.array(fc.string()), (position, any) => {
        expect(decodeCursor(secrets, any, encodeCursor(secrets, any, position))).toEqual(position);
      }),
    );
  });

  test.each([
    ['another account', ['acct_anon_2', 'queue.list', 'prefix=a']],
    ['another list', ['acct_anon_1', 'vector.list', 'prefix=a']],
    ['another filter', ['acct_anon_1', 'queue.list', 'prefix=b']],
    ['fields that only join to the same text', ['acct_anon_1queue.list', '', 'prefix=a']],
  ])('a cursor is refused for %s', (_what, other) => {
    const cursor = encodeCursor(secrets, binding, ['a', 1]);
    expectInvalid(() => decodeCursor(secrets, other, cursor));
  });

  test('a cursor made with another server secret is refused', () => {
    const cursor = encodeCursor(new Secrets('some other server secret of tests'), binding, [1]);
    expectInvalid(() => decodeCursor(secrets, binding, cursor));
  });

  test('no changed character passes', () => {
    const cursor = encodeCursor(secrets, binding, ['name', 17]);
    for (let at = 0; at < cursor.length; at += 1) {
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
      expectInvalid(() => decodeCursor(secrets, binding, changed));
    }
  });

  test.each([
    '',
    'x',
    '!!!',
    'A'.repeat(5000),
    '2024-01-01',
    `${encodeCursor(secrets, binding, [1])}=`,
    `${encodeCursor(secrets, binding, [1])} `,
  ])('made-up text is refused: %.20s', (text) => expectInvalid(() => decodeCursor(secrets, binding, text)));
});

describe('page', () => {
  const cursorAfter = (row: number) => `after ${row}`;

  test('a row beyond the limit means that there is more', () => {
    expect(page([1, 2, 3], 2, cursorAfter)).toEqual({ items: [1, 2], next_cursor: 'after 2', has_more: true });
  });

  test('the last page has no cursor', () => {
    expect(page([1, 2], 2, cursorAfter)).toEqual({ items: [1, 2], next_cursor: null, has_more: false });
    expect(page([], 2, cursorAfter)).toEqual({ items: [], next_cursor: null, has_more: false });
  });
});
