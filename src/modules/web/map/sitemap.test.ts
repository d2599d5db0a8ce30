import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { allowedCpuMs } from '../../../../test/support/slowness.ts';
import { longestTurn } from '../../../../test/support/turn-meter.ts';
import { sitemapEntries } from './sitemap.ts';

const names = async (text: string | Buffer) => {
  const found = await Array.fromAsync(sitemapEntries(Buffer.from(text)));
  return found.map(({ kind, url }) => (kind === 'page' ? url : `${kind} ${url}`));
};
const NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const page = (url: string) => `<url><loc>${url}</loc><lastmod>2026-01-01</lastmod></url>`;
const A = 'https://example.org/a';

describe('sitemaps', () => {
  test.each<[string, string | Buffer, string[]]>([
    [
      'pages',
      `<?xml version="1.0"?><urlset ${NS}>${page(A)}${page('https://example.org/b')}</urlset>`,
      [A, 'https://example.org/b'],
    ],
    ['an index', `<sitemapindex ${NS}><sitemap><loc>${A}</loc></sitemap></sitemapindex>`, [`sitemap ${A}`]],
    [
      'references and spaces',
      `<urlset>${page(' https://example.org/?a=1&amp;b=2\n')}</urlset>`,
      ['https://example.org/?a=1&b=2'],
    ],
    ['CDATA', `<urlset>${page(`<![CDATA[${A}?a&b]]>`)}</urlset>`, [`${A}?a&b`]],
    ['a prefix', `<s:urlset><s:url><s:loc>${A}</s:loc></s:url></s:urlset>`, [A]],
    [
      'pictures are no pages',
      `<urlset><url><loc>${A}</loc><image:image><image:loc>https://x/y.png</image:loc></image:image></url></urlset>`,
      [A],
    ],
    ['a byte order mark', `\ufeff<urlset>${page(A)}</urlset>`, [A]],
    ['gzip', gzipSync(`<urlset>${page(A)}</urlset>`), [A]],
    ['gzip that breaks off', gzipSync(`<urlset>${page(A)}</urlset>`).subarray(0, -9), [A]],
    ['text', `${A}\r\nhttps://example.org/b\n\nnot an address\n`, [A, 'https://example.org/b']],
    ['XML that breaks off', `<urlset>${page(A)}<url><loc>https://example.org/b`, [A]],
    [
      'an address that is too long',
      `<urlset>${page(`https://example.org/${'a'.repeat(3_000)}`)}${page(A)}</urlset>`,
      [A],
    ],
    ['nothing', '', []],
    ['a page of HTML', '<!doctype html><html><body><a href="/b">b</a></body></html>', []],
    [
      'an entity is not expanded',
      `<!DOCTYPE x [<!ENTITY a "${'b'.repeat(99)}">]><urlset><url><loc>https://h/&a;</loc></url></urlset>`,
      ['https://h/&a;'],
    ],
  ])('%s', async (_, text, expected) => {
    expect(await names(text)).toEqual(expected);
  });

  const MIB = 1024 * 1024;
  test.each([
    ['deep elements', '<a>'.repeat(MIB)],
    ['deep elements with ends that fit nothing', '<a>'.repeat(2_000) + '</b>'.repeat(500_000)],
    ['one text', `<urlset><url><loc>${'a'.repeat(2 * MIB)}`],
    ['one line', `https://${'a'.repeat(2 * MIB)}`],
    ['empty lines', '\n'.repeat(2 * MIB)],
    ['one tag of attributes', `<urlset ${'a="b" '.repeat(MIB / 3)}>`],
    ['open brackets', '<'.repeat(2 * MIB)],
    ['references', `<loc>${'&amp;'.repeat(MIB / 3)}`],
    ['a bomb', gzipSync(Buffer.alloc(64 * MIB, '<url><loc>https://h/</loc></url>'))],
  ])('a hostile one is read in slices: %s', async (_, text) => {
    expect(await longestTurn(() => names(text))).toBeLessThan(allowedCpuMs(200));
  });
});
