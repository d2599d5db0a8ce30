// `g` and a letter lead to a page: each letter to one.
import { expect, test } from 'vitest';
import { pages } from '../../../test/support/console-pages.ts';

test('no two pages have the same key', () => {
  const keys = pages.flatMap(({ nav }) => (nav === undefined ? [] : [nav.key]));
  expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  expect(keys.length).toBeGreaterThan(20);
});
