// Storage in the console: files are uploaded, seen as folders, shown, shared and deleted, by clicks alone.
import { Buffer } from 'node:buffer';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectDone, openConsole } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

test('files are uploaded into a folder, shown, shared and deleted', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await page.goto(`${bench.service.url}/console/storage?new=1`);
  await page.fill('input[name=bucket]', 'films');
  await page.click('text=Create bucket');
  await expectDone(page, 'Bucket created.');
  await page.goto(`${bench.service.url}/console/storage/films?prefix=2026%2F`);
  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  await page.setInputFiles('[data-upload] input', [
    { name: 'a b%.png', mimeType: 'image/png', buffer: picture },
    { name: 'long.bin', mimeType: '', buffer: Buffer.alloc(3_000_000, 7) },
  ]);
  await expect.poll(() => page.locator('table a').allTextContents()).toEqual(['a b%.png', 'long.bin']);
  await page.click('text=a b%.png');
  await page.click('text=Show the content');
  await expect.poll(() => page.locator('img.preview').count()).toBe(1);
  expect(await page.evaluate(`document.querySelector('img.preview').naturalWidth`)).toBe(8);
  await page.click('text=Back to the object');
  await page.click('text=Create a link');
  const address = (await page.textContent('pre[aria-label=Address]')) ?? '';
  expect(Buffer.from(await (await fetch(address)).arrayBuffer())).toEqual(picture);
  await page.goto(`${bench.service.url}/console/storage/films?prefix=2026%2F`);
  await page.click('text=long.bin');
  await page.click('text=Delete…');
  await page.fill('input[name=typed]', '2026/long.bin');
  await page.click('button.danger');
  await expectDone(page, 'Object deleted.');
  expect(await page.locator('table a').allTextContents()).toEqual(['a b%.png']);
  expect(faults).toEqual([]);
});

test('a file that is refused says why, and nothing of it is kept', async () => {
  const { page } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await bench.call('POST', '/v1/storage/bucket/create', { bucket: 'refused' });
  await page.goto(`${bench.service.url}/console/storage/refused`);
  const name = `${'x'.repeat(1_025)}.txt`;
  await page.setInputFiles('[data-upload] input', [{ name, mimeType: 'text/plain', buffer: Buffer.from('x') }]);
  await expect.poll(() => page.textContent('[data-upload-status]')).toContain('at most 1024 bytes');
  expect((await bench.call('GET', '/v1/storage/object/list?bucket=refused')).body.data.items).toEqual([]);
});

test('rules for web pages are rows, and an upload link is a form that works', async () => {
  const { page, faults } = await openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
  await bench.call('POST', '/v1/storage/bucket/create', { bucket: 'pages' });
  const settings = `${bench.service.url}/console/storage/pages/settings`;
  const cors = async () => (await bench.call('GET', '/v1/storage/bucket/get/pages')).body.data.cors;
  await page.goto(settings);
  await page.fill('input[name=cors-0-origins]', 'https://app.example.com http://localhost:*');
  await page.check('input[name=cors-0-GET]');
  await page.fill('input[name=cors-0-max_age_seconds]', '600');
  await page.click('main button.main');
  await expectDone(page, 'Settings saved.');
  const first = {
    origins: ['https://app.example.com', 'http://localhost:*'],
    methods: ['GET', 'POST'],
    headers: ['*'],
    expose: ['ETag'],
    max_age_seconds: 600,
  };
  expect(await cors()).toEqual([first]);
  // What was there stays as it was, and a row is added.
  await page.goto(settings);
  await page.fill('input[name=cors-1-origins]', '*');
  await page.click('main button.main');
  await expectDone(page, 'Settings saved.');
  expect(await cors()).toEqual([first, { ...first, origins: ['*'], methods: ['POST'], max_age_seconds: null }]);
  await page.goto(settings);
  for (const row of [0, 1]) await page.fill(`input[name=cors-${row}-origins]`, '');
  await page.click('main button.main');
  await expectDone(page, 'Settings saved.');
  expect(await cors()).toEqual([]);

  await page.click('text=Upload link');
  await page.fill('input[name=prefix]', 'from "page"/');
  await page.click('text=Make the link');
  const form = (await page.locator('pre[aria-label=HTML]').textContent()) ?? '';
  expect(form).toContain('from &quot;page&quot;/');
  const own = await bench.chromium.browser.newPage();
  await own.setContent(form);
  await own.setInputFiles('input[type=file]', {
    name: 'a.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('from a page'),
  });
  const [reply] = await Promise.all([own.waitForResponse(/\/s3\/pages$/), own.click('button')]);
  expect(reply.status()).toBe(204);
  const read = await bench.call(
    'GET',
    `/v1/storage/object/get?bucket=pages&key=${encodeURIComponent('from "page"/a.txt')}`,
  );
  expect(read.body.data.content).toBe('from a page');
  expect(faults).toEqual([]);
});
