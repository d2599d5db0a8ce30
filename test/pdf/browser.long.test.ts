// The browser engine in a real Chromium: full CSS, no script, and nothing reached but through the guard.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { Chromiumly, HtmlConverter } from 'chromiumly';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumForService } from '../support/browser.ts';
import { PdfBench } from './harness.ts';
import { HostileBench } from './hostile-documents.ts';

let bench: PdfBench;
let origin: Server;
let at: string;
let chromium: Awaited<ReturnType<typeof chromiumForService>>;
const asked: string[] = [];

beforeAll(async () => {
  origin = createServer((request, reply) => {
    asked.push(request.url ?? '');
    reply.writeHead(200, { 'content-type': 'text/css' }).end('p { color: red; text-transform: uppercase }');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  chromium = await chromiumForService();
  bench = await PdfBench.start({ CHROMIUM_PATH: chromium.path, ALLOW_PRIVATE_SOURCES: '127.0.0.1/32' });
});
afterAll(async () => {
  await bench.service.stop();
  origin.close();
  await chromium.release();
});

test('lays out with full CSS, numbers its pages, and runs no script', async () => {
  const made = await bench.create(
    `<link rel=stylesheet href="${at}/a.css"><div style="display:grid;grid-template-columns:1fr 1fr"><p>left</p><p>right</p></div>
     <p style="break-before:page" id=x>second</p><script>document.getElementById('x').textContent = 'scripted'</script>`,
    { engine: 'browser', footer: '{page} of {pages}' },
  );
  expect(made).toMatchObject({ engine: 'browser', pages: 2 });
  const [first, second] = await bench.text(made.content_base64);
  expect(first).toMatch(/LEFT\s+RIGHT[\s\S]*1 of 2/);
  expect(second).toMatch(/SECOND[\s\S]*2 of 2/);
  expect(asked).toEqual(['/a.css']);
});

test('`auto` takes the document engine where that is enough, and the browser where CSS needs it', async () => {
  expect((await bench.create('<h1>Plain</h1>', { engine: 'auto' })).engine).toBe('document');
  expect((await bench.create('<div style="display:flex">x</div>')).engine).toBe('browser');
});

test('reaches no private address: by no image, frame, style, font, prefetch, preconnect, refresh or file', async () => {
  const reached: string[] = [];
  const inside = createTcp((socket) => {
    reached.push('connected');
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.2', resolve));
  const there = `http://127.0.0.2:${(inside.address() as AddressInfo).port}`;
  const content = `<link rel=preconnect href="${there}"><link rel=dns-prefetch href="${there}"><link rel=preload as=image href="${there}/p">
    <link rel=prefetch href="${there}/q"><meta http-equiv=refresh content="0;url=${there}/r"><style>@import url(${there}/i);
    @font-face { font-family: F; src: url(${there}/f) } p { font-family: F; background: url(${there}/b) }</style>
    <img src="${there}/a"><iframe src="${there}/c"></iframe><iframe src="file:///etc/passwd"></iframe><object data="file:///etc/passwd"></object>
    <embed src="${there}/e"><img src="file:///etc/passwd"><p>Here</p><video src="${there}/v" autoplay></video>`;
  const made = await bench.create(content, { engine: 'browser' });
  const text = (await bench.text(made.content_base64)).join();
  expect(text).toContain('Here');
  expect(text).not.toContain('root:');
  expect(reached).toEqual([]);
  inside.close();
});

test('ends with its thread: a layout without end leaves no process', async () => {
  const before = await browsers();
  const content = '<div style="columns:50">'.repeat(120) + 'x '.repeat(200_000);
  const refused = await bench.fails('create', { type: 'html', content, engine: 'browser' }).catch(() => null);
  expect(refused === null || refused[3] === 'too_complex' || refused[3] === 'not_laid_out').toBe(true);
  expect(await browsers()).toBe(before);
});

test('ends in time, whatever its browser does: no process and no folder of it stay', async () => {
  const hurried = await HostileBench.soon({ CHROMIUM_PATH: chromium.path }, 700);
  const content = '<div style="columns:50">'.repeat(120) + 'x '.repeat(200_000);
  expect((await hurried.fails('create', { type: 'html', content, engine: 'browser' }))[3]).toBe('too_complex');
  await expect.poll(browsers).toBe(0);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('qm-pdf-'))).toEqual([]);
  await hurried.service.stop();
});

test('a client of Gotenberg gets its style sheet, its image and its footer by the browser', async () => {
  Chromiumly.configure({ endpoint: `${bench.service.url}/v1/pdf/gotenberg`, username: 'key', password: bench.secret });
  const pdf = await new HtmlConverter().convert({
    html: Buffer.from('<html><head><link rel="stylesheet" href="style.css"></head><body><p>shown</p></body></html>'),
    footer: Buffer.from(
      '<html><body><p style="font-size: 9px">Foot <span class="pageNumber"></span></p></body></html>',
    ),
    assets: [{ file: Buffer.from('p { text-transform: uppercase }'), name: 'style.css' }],
    properties: { scale: 1.5 },
  });
  expect((await bench.text(pdf.toString('base64')))[0]).toMatch(/SHOWN[\s\S]*Foot 1/);
});

async function browsers(): Promise<number> {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes('qm-pdf-')).length;
}
