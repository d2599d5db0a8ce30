import { expect, test } from 'vitest';
import { followed, matches, pageUrl } from './links.ts';

test.each([
  ['/docs/*', '/docs/a', true],
  ['/docs', '/docs/a', true],
  ['/docs/*', '/blog', false],
  ['*.pdf', '/a/b.pdf', true],
  ['/*/edit', '/a/b/edit?x=1', true],
  ['/*a*b', '/xxaxxb', true],
  ['/*a*b', '/xxbxxa', false],
  ['*', '/', true],
])('%s of %s: %s', (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

test('a hostile pattern takes as many steps as characters', () => {
  const path = `/${'a'.repeat(2_000)}`;
  const pattern = `/${'*a'.repeat(99)}b`;
  const before = performance.now();
  for (let i = 0; i < 100; i += 1) matches(pattern, path);
  expect(performance.now() - before).toBeLessThan(1_000);
});

test('links of the host are followed, each once, without fragments', () => {
  const links = [
    ...['https://a.test/x#top', 'https://a.test/x', 'https://b.test/', 'mailto:a@a.test', 'https://a.test/y?page=2'],
    ...['https://user@a.test/z', 'javascript:alert(1)', 'https://a.test/no/1'],
  ];
  expect(followed(links, { host: 'a.test', include: [], exclude: ['/no'] })).toEqual([
    'https://a.test/x',
    'https://a.test/y?page=2',
  ]);
  expect(followed(links, { host: 'a.test', include: ['/y'], exclude: [] })).toEqual(['https://a.test/y?page=2']);
  expect(pageUrl(`https://a.test/${'x'.repeat(3_000)}`)).toBeNull();
});
