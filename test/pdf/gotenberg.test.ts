// Gotenberg's wire, by its client as it comes: chromiumly sends the same forms as to a Gotenberg.
import { inflateRawSync } from 'node:zlib';
import { Chromiumly, HtmlConverter, MarkdownConverter, PDFEngines } from 'chromiumly';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestAccount } from '../support/service.ts';
import { PdfBench } from './harness.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let bench: PdfBench;
beforeAll(async () => {
  bench = await PdfBench.start();
  use(bench.secret);
});
afterAll(() => bench.service.stop());

const use = (password: string) =>
  Chromiumly.configure({ endpoint: `${bench.service.url}/v1/pdf/gotenberg`, username: 'key', password });
const textOf = (pdf: Buffer) => bench.text(pdf.toString('base64'));
const pages = (of: readonly string[]) =>
  new HtmlConverter().convert({
    html: Buffer.from(of.map((text, at) => `<p style="${at === 0 ? '' : 'break-before: page'}">${text}</p>`).join('')),
  });

describe('chromiumly', () => {
  test('converts HTML with its header, footer, style sheet, image and paper', async () => {
    const pdf = await new HtmlConverter().convert({
      html: Buffer.from(
        '<html><head><link rel="stylesheet" href="style.css"></head><body><h1>Report</h1><p class="no">Hidden</p><img src="dot.png"></body></html>',
      ),
      header: Buffer.from('<html><head></head><body><p>Header of ours</p></body></html>'),
      footer: Buffer.from('<p><span class="pageNumber"></span> of <span class="totalPages"></span></p>'),
      assets: [
        { file: Buffer.from('.no { display: none }'), name: 'style.css' },
        { file: Buffer.from(PIXEL, 'base64'), name: 'dot.png' },
      ],
      properties: { size: { width: '210mm', height: 11.7 }, landscape: true, margins: { top: 1 } },
    });
    const [text] = await textOf(pdf);
    expect(text).toMatch(/Report[\s\S]*Header of ours[\s\S]*1 of 1/);
    expect(text).not.toContain('Hidden');
    expect(pdf.includes('/Image')).toBe(true);
    const { page_sizes } = await bench.ok('info', { source: { content_base64: pdf.toString('base64') } });
    expect(page_sizes).toEqual([{ width: 842.4, height: 595.28 }]);
  });

  test('converts Markdown by its template', async () => {
    const pdf = await new MarkdownConverter().convert({
      html: Buffer.from('<html><body><p>Before</p>{{ toHTML "file.md" }}</body></html>'),
      markdown: Buffer.from('# Title\n\n- one\n- two'),
    });
    expect((await textOf(pdf))[0]).toMatch(/Before\s+Title\s+•?\s*one/);
  });

  test('takes some pages of what it makes', async () => {
    const html = Buffer.from('<p style="break-after: page">one</p><p style="break-after: page">two</p><p>three</p>');
    const pdf = await new HtmlConverter().convert({ html, properties: { nativePageRanges: { from: 2, to: 3 } } });
    expect(await textOf(pdf)).toEqual(['two', 'three']);
  });

  test('merges files, and splits one into a file, or an archive of files', async () => {
    const [one, two] = [await pages(['first']), await pages(['second', 'third'])];
    const merged = await PDFEngines.merge({ files: [one, two] });
    expect(await textOf(merged)).toEqual(['first', 'second', 'third']);
    const unified = await PDFEngines.split({ files: [merged], options: { mode: 'pages', span: '1,3', unify: true } });
    expect(await textOf(unified)).toHaveLength(2);
    const archive = await PDFEngines.split({ files: [merged], options: { mode: 'intervals', span: '1' } });
    const files = unzipped(archive);
    expect(files.map(({ name }) => name)).toEqual(['file01_0.pdf', 'file01_1.pdf', 'file01_2.pdf']);
    expect((await textOf(files[0]?.bytes as Buffer))[0]).toBe('first');
  });

  test('is refused without a key, without the scope, and without credit, as text with our code', async () => {
    const convert = () => new HtmlConverter().convert({ html: Buffer.from('<p>x</p>') });
    use('no-key');
    await expect(convert()).rejects.toThrow(/Status: 401[\s\S]*INVALID_API_KEY/);
    use((await createTestAccount(bench.service.core, 1, ['queue'])).secret);
    await expect(convert()).rejects.toThrow(/Status: 403[\s\S]*INSUFFICIENT_SCOPE/);
    use((await createTestAccount(bench.service.core, 0)).secret);
    await expect(convert()).rejects.toThrow(/Status: 402[\s\S]*INSUFFICIENT_CREDIT/);
    use(bench.secret);
  });

  test('is told what is not served, and pays as for a call of pdf.create', async () => {
    const payer = await bench.withAccount(1);
    use(payer.secret);
    const html = Buffer.from('<p>x</p>');
    await expect(new HtmlConverter().convert({ html, userPassword: 'secret' })).rejects.toThrow(
      /Status: 400[\s\S]*'userPassword' is not supported/,
    );
    await new HtmlConverter().convert({ html, waitDelay: '1s', skipNetworkIdleEvent: true });
    expect(await payer.balance()).toBeCloseTo(1 - 0.0005, 9);
    use(bench.secret);
  });
});

test('the key may be a bearer token or X-Api-Key; hostile forms are refused', async () => {
  const at = `${bench.service.url}/v1/pdf/gotenberg/forms/chromium/convert/html`;
  const form = new FormData();
  form.append('files', new Blob(['<p>x</p>']), 'index.html');
  for (const [name, key] of [
    ['authorization', `Bearer ${bench.secret}`],
    ['x-api-key', bench.secret],
  ] as const) {
    const reply = await fetch(at, { method: 'POST', body: form, headers: { [name]: key } });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    await reply.arrayBuffer();
  }
  const headers = { authorization: `Bearer ${bench.secret}`, 'content-type': 'multipart/form-data; boundary=x' };
  for (const body of [
    '',
    '--x',
    '--x\r\n\r\n',
    `--x\r\n${'a'.repeat(100_000)}`,
    '--x\r\ncontent-disposition: form-data; name="files"\r\n\r\nno end',
  ]) {
    const reply = await fetch(at, { method: 'POST', body, headers });
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('INVALID_REQUEST');
  }
});

/** As any program reads it: by the directory at its end. */
function unzipped(archive: Buffer) {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let at = archive.readUInt32LE(end + 16);
  return Array.from({ length: archive.readUInt16LE(end + 10) }, () => {
    const [method, size, nameBytes] = [
      archive.readUInt16LE(at + 10),
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
    ];
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = archive.readUInt32LE(at + 42);
    const data = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    at += 46 + nameBytes;
    const bytes = archive.subarray(data, data + size);
    return { name, bytes: method === 0 ? bytes : inflateRawSync(bytes) };
  });
}
