import { expect, test } from 'vitest';
import { patternsOf } from './options.ts';

test.each([
  ['^/docs/.*$', '/docs/*$'],
  ['^/$', '/$'],
  ['/blog/*', '*/blog'],
  ['blog/.*', '*blog/*'],
  ['^/a\\.html', '/a.html'],
  ['/a\\/b', '*/a/b'],
])('the expression %s is the pattern %s', (expression, pattern) => {
  expect(patternsOf([expression], 'includePaths')).toEqual([pattern]);
});

test.each(['(a|b)+$', '[a-z]', '/a?', '/\\d', 'a*b', '/a\\*', 'a$b', '^^', 'x'.repeat(300), '/a\\'])(
  '%s is refused',
  (expression) => {
    expect(() => patternsOf([expression], 'includePaths')).toThrow('literal text');
  },
);
