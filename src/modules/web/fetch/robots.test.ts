import { describe, expect, test } from 'vitest';
import { rulesOf } from './robots.ts';

const at = (text: string) => rulesOf('https://example.org/robots.txt', text);
const may = (text: string, path: string) => at(text).mayFetch(`https://example.org${path}`);

describe('robots.txt', () => {
  test.each([
    ['User-agent: *\nDisallow: /private', '/private/a', false],
    ['User-agent: *\nDisallow: /private', '/public', true],
    ['User-agent: *\nDisallow: /\nAllow: /docs', '/docs/a', true],
    ['User-agent: *\nDisallow: /*.pdf$', '/a/b.pdf', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a/b.pdf?x', true],
    ['User-agent: other\nDisallow: /', '/a', true],
    ['User-agent: *\nDisallow: /\n\nUser-agent: Quartermaster\nDisallow: /own', '/a', true],
    ['User-agent: *\nDisallow: /\n\nUser-agent: Quartermaster/1.0\nDisallow: /own', '/own', false],
    ['User-agent: other\nUser-agent: quartermaster\nDisallow: /both', '/both', false],
    ['User-agent: *\nDisallow:', '/a', true],
    ['\ufeffUser-agent: *\r\nDisallow: /a # why', '/a', false],
    ['Disallow: /', '/a', true],
    ['', '/a', true],
    ['<html>not found</html>', '/a', true],
  ])('%j of %s: %s', (text, path, expected) => {
    expect(may(text, path)).toBe(expected);
  });

  test('a delay and sitemaps are read, a delay up to ten seconds', () => {
    const { delayMs, sitemaps } = at('User-agent: *\nCrawl-delay: 2.5\nSitemap: https://example.org/map.xml');
    expect({ delayMs, sitemaps }).toEqual({ delayMs: 2_500, sitemaps: ['https://example.org/map.xml'] });
    expect(at('User-agent: *\nCrawl-delay: 86400').delayMs).toBe(10_000);
    expect(at('User-agent: *\nCrawl-delay: soon').delayMs).toBe(0);
  });

  test.each([
    ['groups that name many and many rules', `${'User-agent: a\n'.repeat(15_000)}${'Disallow: /b\n'.repeat(25_000)}`],
    ['a group for us of many rules', `User-agent: *\n${'Disallow: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(13_000)}`],
    ['wildcards', `User-agent: *\n${`Disallow: /${'*a'.repeat(120)}b\n`.repeat(2_000)}`],
    ['one line', 'a'.repeat(512 * 1024)],
    ['lines without an end of names', 'a-'.repeat(256 * 1024)],
  ])('a hostile file takes a few milliseconds: %s', (_, text) => {
    const target = `https://example.org/${'a'.repeat(2_000)}`;
    const tries = Array.from({ length: 3 }, () => {
      const begun = process.threadCpuUsage();
      at(text.slice(0, 512 * 1024)).mayFetch(target);
      const { user, system } = process.threadCpuUsage(begun);
      return (user + system) / 1_000;
    });
    // A collection of garbage, or memory that is new, is not the file's.
    expect(Math.min(...tries)).toBeLessThan(100);
  });
});
