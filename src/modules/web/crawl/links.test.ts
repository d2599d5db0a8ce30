import { expect, test } from 'vitest';
import { threadMsOf } from '../../../../test/support/thread-time.ts';
import { linksToFollow, matcher, pageUrl } from './links.ts';

test.each([
  ['/docs/*', '/docs/a', true],
  ['/docs', '/docs/a', true],
  ['/docs/*', '/blog', false],
  ['*.pdf', '/a/b.pdf', true],
  ['/*/edit', '/a/b/edit?x=1', true],
  ['/*a*b', '/xxaxxb', true],
  ['/*a*b', '/xxbxxa', false],
  ['*', '/', true],
  ['/$', '/', true],
  ['/$', '/a', false],
  ['/docs/*/a$', '/docs/x/y/a', true],
  ['/docs/*/a$', '/docs/x/ab', false],
  ['/docs*cs$', '/docs', false],
  ['/*.html$', '/a.html.html', true],
  ['*aab', '/aaab', true],
  ['*abab*ab$', '/xabaababab', true],
  ['**', '/a', true],
  ['', '/a', true],
])('%s of %s: %s', (pattern, path, expected) => {
  expect(matcher(pattern)(path)).toBe(expected);
});

test('patterns match as the expressions that they stand for', () => {
  const texts = (signs: readonly string[], length: number): string[] =>
    length === 0 ? [''] : texts(signs, length - 1).flatMap((text) => signs.map((sign) => text + sign));
  const paths = texts(['a', 'b'], 6);
  for (const pattern of [1, 2, 3, 4, 5].flatMap((length) => texts(['a', 'b', '*'], length))) {
    for (const end of ['', '$']) {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}${end}`);
      const wanted = paths.filter((path) => expression.test(path));
      expect(paths.filter(matcher(pattern + end)), pattern + end).toEqual(wanted);
    }
  }
});

test.each([`/${'*a'.repeat(99)}b`, `*${'a'.repeat(198)}b`, `*${'a'.repeat(100)}b*${'a'.repeat(97)}b`])(
  'a hostile pattern takes as many steps as the path has characters: %s',
  (pattern) => {
    const matches = matcher(pattern);
    const path = `/${'a'.repeat(2_000)}`;
    const often = () => {
      for (let i = 0; i < 2_000; i += 1) matches(path);
    };
    // 4 million characters; going back to the start of each would be 400 million.
    expect(threadMsOf(often)).toBeLessThan(1_000);
  },
);

test('links of the host are followed, each once, without fragments', async () => {
  const links = [
    ...['https://a.test/x#top', 'https://a.test/x', 'https://b.test/', 'mailto:a@a.test', 'https://a.test/y?page=2'],
    ...['https://user@a.test/z', 'javascript:alert(1)', 'https://a.test/no/1'],
  ];
  expect(await linksToFollow(links, { host: 'a.test', include: [], exclude: ['/no'] })).toEqual([
    'https://a.test/x',
    'https://a.test/y?page=2',
  ]);
  expect(await linksToFollow(links, { host: 'a.test', include: ['/y'], exclude: [] })).toEqual([
    'https://a.test/y?page=2',
  ]);
  expect(pageUrl(`https://a.test/${'x'.repeat(3_000)}`)).toBeNull();
});
