// A page of another origin in Chromium uploads by fetch, by a form and by an address that the AWS SDK signed; without the bucket's rule it cannot.
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Site, startSite } from '../support/site.ts';
import { S3Bench } from './harness.ts';

let bench: S3Bench;
let chromium: TestBrowser;
let site: Site;
let page: Page;
beforeAll(async () => {
  bench = await S3Bench.start();
  chromium = await startBrowser();
  site = await startSite({ '/': '<!doctype html><title>Upload</title><body>' }, '127.0.0.1');
  page = await chromium.browser.newPage();
  await page.goto(site.url);
}, 60_000);
afterAll(async () => {
  await chromium?.close();
  await site?.stop();
  await bench?.stop();
});

/** What the script of the page gets: status, ETag and body; or that the browser refused. */
const fetched = (url: string, init: { method: string; headers?: Record<string, string>; body?: string }) =>
  page.evaluate(
    async ({ url, init }) => {
      try {
        const reply = await fetch(url, init);
        return { status: reply.status, etag: reply.headers.get('etag'), text: await reply.text() };
      } catch (error) {
        return String(error);
      }
    },
    { url, init },
  );
const posted = (url: string, fields: Record<string, string>, text: string) =>
  page.evaluate(
    async ({ url, fields, text }) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append('file', new File([text], 'a b.txt', { type: 'text/plain' }));
      try {
        return (await fetch(url, { method: 'POST', body: form })).status;
      } catch (error) {
        return String(error);
      }
    },
    { url, fields, text },
  );
const allow = (bucket: string, origin: string, methods: string[]) =>
  bench.rest('PUT', '/v1/storage/bucket/settings', {
    bucket,
    cors: [{ origins: [origin], methods, headers: ['*'], expose: ['ETag'] }],
  });
const presigned = async (bucket: string, key: string, method: string) =>
  (await bench.rest('POST', '/v1/storage/presign', { bucket, key, method })).body.data.url as string;
const uploadLink = async (bucket: string) =>
  (await bench.rest('POST', '/v1/storage/upload/link', { bucket, prefix: 'in/', bytes_max: 100 })).body.data;
const NO = 'TypeError: Failed to fetch';

test('a page uploads and reads where a rule names its origin', async () => {
  const bucket = await bench.bucket('pages');
  await allow(bucket, site.url, ['PUT', 'POST', 'GET']);
  const put = await fetched(await presigned(bucket, 'by-put', 'PUT'), {
    method: 'PUT',
    body: 'put',
    headers: { 'content-type': 'text/plain' },
  });
  expect(put).toMatchObject({ status: 200, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) });
  expect(await fetched(await presigned(bucket, 'by-put', 'GET'), { method: 'GET' })).toMatchObject({
    status: 200,
    text: 'put',
  });
  // A failure can be read too.
  expect(await fetched(await presigned(bucket, 'none', 'GET'), { method: 'GET' })).toMatchObject({ status: 404 });
  const { url, fields } = await uploadLink(bucket);
  expect(await posted(url, fields, 'post')).toBe(204);
  expect(await bench.text(bucket, 'in/a b.txt')).toBe('post');
  expect(await posted(url, fields, 'x'.repeat(101))).toBe(400);
  const signed = await getSignedUrl(
    bench.sdk,
    new PutObjectCommand({ Bucket: bucket, Key: 'by-sdk', ContentType: 'text/css' }),
    {
      expiresIn: 60,
    },
  );
  expect(await fetched(signed, { method: 'PUT', body: 'sdk', headers: { 'content-type': 'text/css' } })).toMatchObject({
    status: 200,
  });
  expect(await bench.text(bucket, 'by-sdk')).toBe('sdk');
});

test('a plain form needs no rule, and is sent on to where its policy says', async () => {
  const bucket = await bench.bucket('plain-form');
  const { url, fields } = await uploadLink(bucket);
  const inputs = Object.entries(fields as Record<string, string>).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  const own = await chromium.browser.newPage();
  await own.goto(site.url);
  await own.setContent(
    `<form action="${url}" method="post" enctype="multipart/form-data">${inputs.join('')}<input type="file" name="file"><button>Send</button></form>`,
  );
  await own.setInputFiles('input[type=file]', {
    name: 'plain.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('plain'),
  });
  const [reply] = await Promise.all([own.waitForResponse(url), own.click('button')]);
  expect(reply.status()).toBe(204);
  expect(await bench.text(bucket, 'in/plain.txt')).toBe('plain');
  await own.close();
});

test('without a rule for its origin, the browser refuses', async () => {
  const bucket = await bench.bucket('no-pages');
  const put = { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } };
  expect(await fetched(await presigned(bucket, 'k', 'PUT'), put)).toBe(NO);
  await allow(bucket, 'https://other.example', ['PUT', 'POST', 'GET']);
  expect(await fetched(await presigned(bucket, 'k', 'PUT'), put)).toBe(NO);
  await allow(bucket, site.url, ['GET']);
  expect(await fetched(await presigned(bucket, 'k', 'PUT'), put)).toBe(NO);
  await expect(bench.text(bucket, 'k')).rejects.toMatchObject({ name: 'NoSuchKey' });
});
