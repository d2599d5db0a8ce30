// PDFs are made of HTML, Markdown and text, and PDFs are merged, split, filled and read; each page has its price.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { FORM } from '../../src/modules/pdf/capabilities/examples.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { base64, PdfBench } from './harness.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let bench: PdfBench;
let origin: Server;
let at: string;
const asked: string[] = [];

beforeAll(async () => {
  origin = createServer((request, reply) => {
    asked.push(request.url ?? '');
    reply.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64'));
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  bench = await PdfBench.start({ ALLOW_PRIVATE_SOURCES: '127.0.0.1/32' });
});
afterAll(async () => {
  await bench.service.stop();
  origin.close();
});

describe('a document', () => {
  test('has the headings, lists, tables and breaks of its HTML, and says what it ignored', async () => {
    const rows = Array.from({ length: 80 }, (_, n) => `<tr><td>Item ${n}</td><td>${n}</td></tr>`).join('');
    const { data, metadata } = await bench.answer('create', {
      type: 'html',
      content: `<html><head><title>Report</title><style>.a { display: flex; color: red }</style></head><body>
        <h1>Quarterly report</h1><p class="a">Καλημέρα, <b>Привет</b></p><ul><li>One</li><li>Two</li></ul>
        <table><thead><tr><th>Name</th><th>Number</th></tr></thead><tbody>${rows}</tbody></table>
        <p style="break-before: page">The end</p><script>document.write('no')</script></body></html>`,
      header: 'For {pages} readers',
      footer: 'Page {page} of {pages}',
      inline: true,
    });
    expect(data).toMatchObject({ engine: 'document', content_type: 'application/pdf', url: null });
    const pages = await bench.text(data.content_base64);
    expect(pages).toHaveLength(data.pages);
    expect(pages[0]).toContain('Quarterly report');
    expect(pages[0]).toContain('Καλημέρα, Привет');
    for (const page of pages.slice(0, -1)) expect(page).toContain('Number');
    expect(pages.at(-1)).toContain('The end');
    expect(pages.at(-1)).toContain(`Page ${data.pages} of ${data.pages}`);
    expect(pages.join()).not.toContain('document.write');
    expect(metadata.warnings.join()).toMatch(/ignored: .*script.*flex|ignored: .*flex.*script/);
    expect(await bench.ok('info', { source: { content_base64: data.content_base64 } })).toMatchObject({
      title: 'Report',
      encrypted: false,
    });
  });

  test('is as large as its paper says', async () => {
    const made = await bench.create('<p>Wide</p>', { page: { size: 'A5', landscape: true } });
    const { page_sizes } = await bench.ok('info', { source: { content_base64: made.content_base64 } });
    expect(page_sizes).toEqual([{ width: 595.28, height: 419.53 }]);
  });

  test('may be of Markdown or of text', async () => {
    const markdown = await bench.create('# Title\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |', { type: 'markdown' });
    expect((await bench.text(markdown.content_base64))[0]).toMatch(/Title\s+•?\s*one\s+a\s*b\s+1\s*2/);
    const text = await bench.create('<b>not bold</b>\n   kept', { type: 'text' });
    expect((await bench.text(text.content_base64))[0]).toContain('<b>not bold</b>');
  });

  test('shows images of data and https URLs through the guard, and leaves out others with a warning', async () => {
    const sources = [
      `data:image/png;base64,${PIXEL}`,
      `${at}/a.png`,
      'http://10.0.0.1/b.png',
      '/etc/passwd',
      'file:///etc/passwd',
    ];
    const content = sources.map((src) => `<img src="${src}" width="20">`).join('');
    const { data, metadata } = await bench.answer('create', { type: 'html', content, inline: true });
    expect(metadata.warnings).toHaveLength(3);
    expect(asked).toEqual(['/a.png']);
    const pdf = await PDFDocument.load(Buffer.from(data.content_base64, 'base64'));
    const images = pdf.context
      .enumerateIndirectObjects()
      .filter(([, object]) => String(object).includes('/Subtype /Image'));
    expect(images.length).toBeGreaterThan(0);
  });

  test('may be a paragraph of 200 KB, and has every word of it in order', async () => {
    const words = Array.from({ length: 30_000 }, (_, n) => `w${n}`);
    const { url, pages } = await bench.create(`<p>${words.join(' ')}</p>`, { inline: false });
    expect(pages).toBeGreaterThan(20);
    const text = await bench.text(Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64'));
    expect(text.join(' ').split(/\s+/)).toEqual(words);
  });

  test('has the cells of tables without bodies, with spans and with holes', async () => {
    const { content_base64: pdf } = await bench.create(
      '<table><tr><th colspan="2">head</th></tr><tr><td>a</td><td>b</td><td>c</td></tr><tr></tr><tr><td rowspan="9">d</td></tr></table>',
    );
    const [text] = await bench.text(pdf);
    for (const cell of ['head', 'a', 'b', 'c', 'd']) expect(text).toContain(cell);
  });

  test('names characters that no font has', async () => {
    const { metadata } = await bench.answer('create', { type: 'text', content: 'Hello 你好', inline: true });
    expect(metadata.warnings).toEqual(['No font has these characters, so they are not shown: 你 好.']);
  });

  test('comes as a link that needs no key, unless it is wanted inline', async () => {
    const {
      url,
      content_base64: content,
      bytes,
    } = await bench.create('<p>Linked</p>', { inline: false, title: 'My paper' });
    expect(content).toBeNull();
    const reply = await fetch(url);
    expect(reply.headers.get('content-disposition')).toBe('inline; filename="My paper.pdf"');
    expect((await reply.arrayBuffer()).byteLength).toBe(bytes);
  });
});

describe('PDFs', () => {
  let three: string;
  beforeAll(async () => {
    const page = (n: number) => `<p style="${n === 1 ? '' : 'break-before: page'}">This is page ${n}</p>`;
    three = (await bench.create([1, 2, 3].map(page).join(''))).content_base64;
  });

  test('are kept in buckets, and read from them', async () => {
    await bench.call('POST', '/v1/storage/bucket/create', { bucket: 'papers' });
    const store = { bucket: 'papers', key: 'three.pdf' };
    expect(await bench.create('<p>Kept</p>', { inline: false, store })).toMatchObject({
      ...store,
      content_base64: null,
      url: null,
    });
    const { pages } = await bench.ok('extract_text', { source: store });
    expect(pages).toEqual([{ page: 1, text: 'Kept' }]);
    const parts = {
      source: { content_base64: three },
      ranges: '1,2-',
      store: { bucket: 'papers', key: 'parts/three.pdf' },
    };
    expect((await bench.ok('split', parts)).files.map(({ key }: { key: string }) => key)).toEqual([
      'parts/three-1.pdf',
      'parts/three-2.pdf',
    ]);
    const missing = await bench.fails('create', { type: 'text', content: 'x', store: { bucket: 'none', key: 'k' } });
    expect(missing.slice(0, 2)).toEqual([404, 'BUCKET_NOT_FOUND']);
  });

  test('are merged in their order', async () => {
    const one = (await bench.create('<p>Cover</p>')).content_base64;
    const merged = await bench.ok('merge', {
      sources: [{ content_base64: one }, { content_base64: three }],
      inline: true,
    });
    expect(merged.pages).toBe(4);
    expect(await bench.text(merged.content_base64)).toEqual([
      'Cover',
      'This is page 1',
      'This is page 2',
      'This is page 3',
    ]);
  });

  test('are split by ranges', async () => {
    const { files } = await bench.ok('split', { source: { content_base64: three }, ranges: '2-, 1,1-2', inline: true });
    expect(files.map(({ range, pages }: { range: string; pages: number }) => [range, pages])).toEqual([
      ['2-', 2],
      ['1', 1],
      ['1-2', 2],
    ]);
    expect(await bench.text(files[0].content_base64)).toEqual(['This is page 2', 'This is page 3']);
    for (const ranges of ['4', '0', '3-2', '1-9'])
      expect(await bench.fails('split', { source: { content_base64: three }, ranges })).toEqual([
        400,
        'VALIDATION_FAILED',
        'ranges',
        'out_of_range',
      ]);
    expect((await bench.fails('split', { source: { content_base64: three }, ranges: '-3' }))[3]).toBe('pattern');
  });

  test('give the text of the pages asked for', async () => {
    expect(await bench.text(three, '3,1')).toEqual(['This is page 3', 'This is page 1']);
  });

  test('with a form are filled, and say what their fields take', async () => {
    const source = { content_base64: FORM };
    const fields = { name: 'Ada Lovelace', member: true };
    const filled = await bench.ok('fill', { source, fields, inline: true });
    const told = await bench.ok('info', { source: { content_base64: filled.content_base64 } });
    expect(told.fields).toEqual([
      { name: 'name', type: 'text', value: 'Ada Lovelace', options: null },
      { name: 'member', type: 'checkbox', value: true, options: null },
    ]);
    const flat = await bench.ok('fill', { source, fields: { name: 'Ελένη' }, flatten: true, inline: true });
    expect((await bench.ok('info', { source: { content_base64: flat.content_base64 } })).fields).toEqual([]);
    expect(await bench.text(flat.content_base64)).toEqual(['Ελένη']);
    const refused = (of: Record<string, unknown>) => bench.fails('fill', { source, fields: of });
    expect(await refused({ nobody: 'x' })).toEqual([400, 'VALIDATION_FAILED', 'fields.nobody', 'unknown_field']);
    expect(await refused({ member: 'yes' })).toEqual([400, 'VALIDATION_FAILED', 'fields.member', 'type']);
    expect(await bench.fails('fill', { source: { content_base64: three }, fields: { a: 'b' } })).toEqual([
      400,
      'VALIDATION_FAILED',
      'source',
      'no_form',
    ]);
  });

  test('that are none are refused, and the one of several is named', async () => {
    const none = { content_base64: base64('no pdf at all') };
    const refused = [400, 'VALIDATION_FAILED', 'source', 'not_a_pdf'];
    expect(await bench.fails('info', { source: none })).toEqual(refused);
    expect(await bench.fails('extract_text', { source: none })).toEqual(refused);
    expect(await bench.fails('extract_text', { source: { content_base64: base64('%PDF-1.4\nrubbish') } })).toEqual(
      refused,
    );
    expect(await bench.fails('merge', { sources: [{ content_base64: three }, none] })).toEqual([
      400,
      'VALIDATION_FAILED',
      'sources[1]',
      'not_a_pdf',
    ]);
    expect(await bench.fails('merge', { sources: [{ content_base64: three }, {}] })).toEqual([
      400,
      'VALIDATION_FAILED',
      'sources[1]',
      'one_of',
    ]);
  });
});

describe('a page', () => {
  const pagesOf = (n: number) => Array.from({ length: n }, () => '<p style="break-after: page">x</p>').join('');

  test('costs 0.0001 USD, a call at least 0.0005, a failure and info nothing', async () => {
    const payer = await bench.withAccount(1);
    const costOf = async (operation: string, body: unknown) => (await payer.answer(operation, body)).metadata.cost_usd;
    expect(await costOf('create', { type: 'text', content: 'one' })).toBe(0.0005);
    const twelve = await payer.answer('create', { type: 'html', content: `${pagesOf(11)}<p>end</p>`, inline: true });
    expect([twelve.data.pages, twelve.metadata.cost_usd]).toEqual([12, 0.0012]);
    const source = { content_base64: twelve.data.content_base64 };
    expect(await costOf('extract_text', { source })).toBe(0.0012);
    expect(await costOf('split', { source, ranges: '1-7' })).toBe(0.0007);
    expect(await costOf('info', { source })).toBe(0);
    await payer.fails('info', { source: { content_base64: base64('rubbish') } });
    await payer.fails('split', { source, ranges: '99' });
    expect(await payer.balance()).toBeCloseTo(1 - 0.0005 - 0.0012 - 0.0012 - 0.0007, 9);
    expect(await examineAccount({ ...payer.service.core, modules }, payer.accountId)).toEqual([]);
  });

  test('is made only while credit lasts for it', async () => {
    const poor = await bench.withAccount(0.0006);
    expect((await poor.fails('create', { type: 'html', content: pagesOf(9) }))[1]).toBe('INSUFFICIENT_CREDIT');
    expect((await poor.create('<p>five at most</p>')).pages).toBe(1);
    expect((await poor.fails('create', { type: 'text', content: 'one more' }))[1]).toBe('INSUFFICIENT_CREDIT');
  });

  test('is not charged twice under one idempotency key', async () => {
    const payer = await bench.withAccount(1);
    const body = { type: 'text', content: 'once', inline: true };
    const [first, second] = [
      await payer.answer('create', body, { 'idempotency-key': 'k1' }),
      await payer.answer('create', body, { 'idempotency-key': 'k1' }),
    ];
    expect(second.data).toEqual(first.data);
    expect(await payer.balance()).toBeCloseTo(1 - 0.0005, 9);
  });

  test('beyond 500 is refused', async () => {
    expect(await bench.fails('create', { type: 'html', content: pagesOf(505) })).toEqual([
      400,
      'VALIDATION_FAILED',
      'content',
      'too_many_pages',
    ]);
  });
});
