// What is made of single pages: characters, code, tables, links, and what must never come out.
import { expect, test } from 'vitest';
import { readPage } from '../../src/modules/web/read/page.ts';
import type { ReadTask } from '../../src/modules/web/read/wire.ts';

const page = (html: string | Uint8Array, task: Partial<ReadTask> = {}) =>
  readPage({
    bytes: typeof html === 'string' ? new Uint8Array(Buffer.from(html)) : html,
    contentType: 'text/html',
    url: 'https://site.example/a/b?c=1',
    format: 'markdown',
    mainContent: true,
    links: true,
    bytesMax: 100_000,
    ...task,
  });
const body = async (html: string, task: Partial<ReadTask> = {}) => (await page(html, task)).content;
const latin = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const shiftJis = Uint8Array.from([0x3c, 0x70, 0x3e, 0x93, 0xfa, 0x96, 0x7b]);

test.each<[string, Uint8Array, string | null, string]>([
  [
    'a mark before the header',
    Uint8Array.from([0xef, 0xbb, 0xbf, ...latin('<p>'), 0xc3, 0xa9]),
    'text/html; charset=latin1',
    'é',
  ],
  ['UTF-16 by its mark', Uint8Array.from([0xff, 0xfe, ...Buffer.from('<p>日本', 'utf16le')]), 'text/html', '日本'],
  ['the header', latin('<p>caf\xe9'), 'text/html; charset="ISO-8859-1"', 'café'],
  ['the header before the page', shiftJis, 'text/html;charset=Shift_JIS', '日本'],
  ['the page', latin('<meta charset=windows-1251><p>\xcf\xf0\xe8'), 'text/html', 'При'],
  [
    'the page, of old',
    latin('<meta http-equiv=Content-Type content="text/html; charset=gbk"><p>\xd6\xd0'),
    'text/html',
    '中',
  ],
  ['a page that says UTF-16 and is not', latin('<meta charset=utf-16><p>plain'), 'text/html', 'plain'],
  ['nothing: UTF-8', new Uint8Array(Buffer.from('<p>größer')), 'text/html', 'größer'],
  ['nothing, and not UTF-8', latin('<p>gr\xf6\xdfer'), 'text/html', 'größer'],
  ['an unknown name', new Uint8Array(Buffer.from('<p>größer')), 'text/html; charset=klingon', 'größer'],
])('characters by %s', async (_, bytes, contentType, content) => {
  expect((await page(bytes, { contentType })).content).toBe(content);
});

test.each([
  ['application/json', '{"a": [1, 2]}'],
  ['application/feed+json; charset=utf-8', '{"a": "<b>"}'],
  ['text/xml', '<?xml version="1.0"?><a>&amp;</a>'],
  ['text/plain', 'a  b\n\n  c <script>'],
  ['text/csv', 'a,b\r\n1,2'],
  [null, 'only words'],
])('%s comes as it is', async (contentType, text) => {
  expect(await body(text, { contentType })).toBe(text);
});

test.each([['image/png'], ['application/zip'], ['video/mp4'], ['font/woff2']])('%s is refused', async (contentType) => {
  await expect(page('x', { contentType })).rejects.toMatchObject({ refusal: { rule: 'unsupported_type' } });
});

test('bytes without a type are looked at', async () => {
  expect(await body('\n<!DOCTYPE html><title>t</title><p>words', { contentType: null })).toBe('words');
  await expect(page(Uint8Array.from([0x89, 0x50, 0, 1, 2]), { contentType: null })).rejects.toMatchObject({
    refusal: { rule: 'unsupported_type' },
  });
});

test('a damaged PDF is refused', async () => {
  await expect(page('%PDF-1.7 nothing', { contentType: 'application/pdf' })).rejects.toMatchObject({
    refusal: { rule: 'not_a_pdf' },
  });
});

test.each([
  ['code with its language', '<pre class="lang-js"><code>a &lt; b\n  c</code></pre>', '```js\na < b\n  c\n```'],
  ['code that holds a fence', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
  ['lines of code that are elements', '<pre><code><div>a</div><div>b</div></code></pre>', '```\na\nb\n```'],
  [
    'a table',
    '<table><tr><th>a|b<th>c<tr><td>1<td>two<br>lines</table>',
    '| a\\|b | c |\n| --- | --- |\n| 1 | two lines |',
  ],
  [
    'a table without a head',
    '<table><tr><td>a<td>1<tr><td>b<td>2</table>',
    '|  |  |\n| --- | --- |\n| a | 1 |\n| b | 2 |',
  ],
  [
    'cells that span',
    '<table><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tr><td>1<td>2<td>3</table>',
    '| a | b |  |\n| --- | --- | --- |\n|  | c | d |\n| 1 | 2 | 3 |',
  ],
  ['a table for layout', '<table><tr><td><h2>Head</h2><p>text</td></tr></table>', '## Head\n\ntext'],
  ['numbered lists', '<ol start=3><li>c<li>d<ul><li>e</ul></ol>', '3. c\n4. d\n   - e'],
  ['images', '<p><img src=/i.png alt="A map"></p>', '![A map](https://site.example/i.png)'],
  [
    'lazy images',
    '<p><img src="data:image/gif;base64,R0" data-src=x.jpg alt=x></p>',
    '![x](https://site.example/a/x.jpg)',
  ],
  ['a base', '<base href="https://other.example/d/"><p>a <a href=e>e</a></p>', 'a [e](https://other.example/d/e)'],
  ['links that run', '<p>a <a href="java\nscript:alert(1)">b</a> <a href=" data:text/html,x">c</a></p>', 'a b c'],
  ['a page without a body', '<meta charset=utf-8><title>t</title><h1>H</h1>text', '# H\n\ntext'],
  ['nothing', '', ''],
])('%s', async (_, html, markdown) => {
  expect(await body(html)).toBe(markdown);
});

test('the whole page has what the main content leaves out', async () => {
  const html = '<nav><a href=/x>Home</a></nav><main><p>Text of the page.</p></main><footer>Imprint</footer>';
  expect(await body(html)).toBe('Text of the page.');
  expect(await body(html, { mainContent: false })).toMatch(/Home[\s\S]+Text of the page\.[\s\S]+Imprint/);
});

test('HTML comes without anything that runs', async () => {
  const html = await body(
    `<div onclick="x()" style="x" class=c data-x=1><p lang=de>a<script>x()</script><img src=x onerror="x()"><a href="javascript:x()" title='"><b>'>b</a>
     <svg><script>x()</script></svg><math><mtext><img src=y onerror=x()></mtext></math><noembed><img title="</noembed><img src onerror=x()>"></noembed>
     <iframe srcdoc="<script>x()</script>"></iframe><x-a onfocus=x()>c</x-a><form action="javascript:x()"><button formaction="javascript:x()">d</button></form></div>`,
    { format: 'html', mainContent: false },
  );
  expect(html).not.toMatch(/\son\w+=|javascript:|<(?:script|svg|math|noembed|iframe|form|button|x-a)|style=|data-x/);
  expect(html).toContain('<p lang="de">a');
});

test('text has a line for a block, and tabs between cells', async () => {
  const html =
    '<h1>Head</h1><p>one <b>two</b>\n three</p><table><tr><td>a<td>b</table><ul><li>c<li>d</ul><pre>  e\n f</pre>';
  expect(await body(html, { format: 'text' })).toBe('Head\n\none two three\n\na\tb\n\n- c\n- d\n\n  e\n f');
});

test('right-to-left and ideographs stay as they are', async () => {
  expect(await body('<p dir=rtl>السعر ١٢٣ (شامل)</p><p>中文,标点。</p>')).toBe('السعر ١٢٣ (شامل)\n\n中文,标点。');
});

test('links are absolute, once, in order, of the whole page, and http alone', async () => {
  const { links } = await page(
    `<nav><a href=/one#top>1</a></nav><main><a href="/one">again</a><a href="?q=2">2</a><a href="mailto:a@b.example">m</a>
     <a href="//other.example">3</a><a href="http://">none</a>${'<a href="/n">n</a>'.repeat(3)}</main>`,
  );
  expect(links).toEqual([
    'https://site.example/one',
    'https://site.example/a/b?q=2',
    'https://other.example/',
    'https://site.example/n',
  ]);
  const many = Array.from({ length: 1_100 }, (_, at) => `<a href="/${at}">${at}</a>`).join(' ');
  expect((await page(many)).links).toHaveLength(1_000);
  expect((await page(many, { links: false })).links).toEqual([]);
});

test('a page says its title, author, language and description', async () => {
  const head = `<html lang=pt_BR><title> Site | T </title><meta property=og:title content="T"><meta name=description content="D">
    <script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"S"},{"@type":"NewsArticle","author":[{"name":"Desk A"},{"name":"Desk B"}]}]}</script>`;
  expect(await page(`${head}<p>x`)).toMatchObject({
    title: 'T',
    byline: 'Desk A, Desk B',
    language: 'pt-BR',
    description: 'D',
  });
  expect(await page('<p>x')).toMatchObject({ title: null, byline: null, language: null, description: null });
});

test.each([1, 2, 3, 4, 5, 6, 7, 50])('content of %s bytes is cut between characters', async (bytesMax) => {
  const { content, truncated } = await page('aé日😀'.repeat(20), { contentType: 'text/plain', bytesMax });
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(bytesMax);
  expect(Buffer.byteLength(content)).toBeGreaterThan(bytesMax - 4);
  expect('aé日😀'.repeat(20).startsWith(content)).toBe(true);
});

test('content is cut at the end of a line where one is near, also within code', async () => {
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  const cut = await page(lines.map((line) => `<p>${line}</p>`).join(''), { bytesMax: 300 });
  expect(cut).toMatchObject({ truncated: true });
  expect(cut.content.endsWith('\n') ? '' : cut.content.split('\n').at(-1)).toMatch(/^(?:line \d+)?$/);
  expect(await page(`<pre>${lines.join('\n')}</pre>`, { bytesMax: 300 })).toMatchObject({ truncated: true });
  expect(await page('<p>short</p>', { bytesMax: 5 })).toMatchObject({ content: 'short', truncated: false });
});
