// How calls name the bytes that they work on, and how results come back: in the answer, or by links that need no key.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerResult, requireResultPlace } from '../../src/files/result.ts';
import { readSource } from '../../src/files/source.ts';
import { madeFilesSweep } from '../../src/files/sweep.ts';
import { defineCapability } from '../../src/kit/capability.ts';
import { resultFields, resultWishFields, sourceField } from '../../src/kit/file-fields.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { Services } from '../../src/kit/services.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const BYTES_MAX = 3 * 1024 * 1024;

const copy = defineCapability()({
  method: 'POST',
  path: '/v1/copier/copy',
  summary: 'Copies bytes.',
  description: 'Gives back what it is given.',
  keywords: ['photocopy', 'xerox'],
  isLongRead: true,
  input: Type.Object({
    source: sourceField('What is copied.'),
    as: Type.Optional(Type.String({ description: 'Its content type.' })),
    filename: Type.Optional(Type.String({ description: 'Its name.' })),
    ...resultWishFields,
  }),
  output: Type.Object({ ...resultFields, said: Type.Unsafe<string | null>({ type: ['string', 'null'] }) }),
  bodyBytesMax: 512 * 1024,
  examples: [],
  async run({ ctx, input }) {
    await requireResultPlace(ctx, input);
    const { bytes, contentType } = await readSource(ctx, input.source, { bytesMax: BYTES_MAX, param: 'source' });
    const made = { contentType: input.as ?? 'application/octet-stream', filename: input.filename ?? 'copy.bin' };
    return { data: { ...(await answerResult(ctx, bytes, { ...made, ...input })), said: contentType } };
  },
});

const copier = defineModule({
  name: 'copier',
  summary: 'Copies bytes.',
  status: 'beta',
  capabilities: [copy],
});

let service: TestService;
let call: Client;
let origin: Server;
let at: string;

beforeAll(async () => {
  origin = createServer((request, reply) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/away') return void reply.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    if (pathname === '/missing') return void reply.writeHead(404).end();
    if (pathname === '/long') return void reply.writeHead(200).end(Buffer.alloc(BYTES_MAX + 1));
    if (pathname === '/exact') return void reply.writeHead(200).end(Buffer.alloc(BYTES_MAX, 1));
    if (pathname === '/broken') {
      reply.writeHead(200, { 'content-length': '100' }).write('half');
      return void setTimeout(() => reply.destroy(), 50);
    }
    return void reply.writeHead(200, { 'content-type': 'Text/Plain; charset=utf-8' }).end('hello');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  service = await startTestService({ extraModules: [copier], env: { ALLOW_PRIVATE_SOURCES: '127.0.0.1/32' } });
  const account = await createTestAccount(service.core);
  call = client(service.url, account.secret);
});
afterAll(async () => {
  await service.stop();
  origin.close();
});

const send = (body: unknown) => call('POST', '/v1/copier/copy', body);
const copied = async (body: unknown) => {
  const reply = await send(body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data;
};
const refusal = async (body: unknown) => {
  const { status, body: answer } = await send(body);
  return [status, answer.error.code, answer.error.param, answer.error.code_detail];
};
const hello = { content_base64: Buffer.from('hello').toString('base64') };

describe('a source', () => {
  test('is read from base64, a data URL and a URL, with the type that its sender says', async () => {
    expect(await copied({ source: hello, inline: true })).toMatchObject({ ...hello, bytes: 5, said: null });
    expect(await copied({ source: { data: hello.content_base64 }, inline: true })).toMatchObject(hello);
    const dataUrl = { content_base64: `data:text/html;base64,${hello.content_base64}` };
    expect(await copied({ source: dataUrl, inline: true })).toMatchObject({ ...hello, said: 'text/html' });
    expect(await copied({ source: { url: `${at}/hello` }, inline: true })).toMatchObject({
      ...hello,
      said: 'text/plain',
    });
  });

  test('is named in exactly one way', async () => {
    for (const source of [{}, { ...hello, url: `${at}/hello` }, { ...hello, bucket: 'b', key: 'k' }])
      expect(await refusal({ source })).toEqual([400, 'VALIDATION_FAILED', 'source', 'one_of']);
    expect(await refusal({ source: { bucket: 'b' } })).toEqual([400, 'VALIDATION_FAILED', 'source.key', 'required']);
    expect(await refusal({ source: { key: 'k' } })).toEqual([400, 'VALIDATION_FAILED', 'source.bucket', 'required']);
  });

  test('that is no base64, or an object of a bucket that does not exist, is refused', async () => {
    expect(await refusal({ source: { content_base64: 'no base64!' } })).toEqual([
      400,
      'VALIDATION_FAILED',
      'source.content_base64',
      'base64',
    ]);
    expect((await refusal({ source: { bucket: 'b', key: 'k' } })).slice(0, 3)).toEqual([
      404,
      'BUCKET_NOT_FOUND',
      'source.bucket',
    ]);
  });

  test('at a URL that fails, leads to a private address, breaks off or is too long is refused', async () => {
    const of = (path: string) => refusal({ source: { url: path.startsWith('/') ? at + path : path } });
    const failed = [400, 'VALIDATION_FAILED', 'source.url'];
    expect(await of('/missing')).toEqual([...failed, 'url_failed']);
    expect(await of('/broken')).toEqual([...failed, 'url_failed']);
    expect(await of('/long')).toEqual([...failed, 'too_large']);
    expect(await of('http://10.0.0.1/')).toEqual([...failed, 'url_refused']);
    expect(await of('/away')).toEqual([...failed, 'url_refused']);
    expect(await of('file:///etc/passwd')).toEqual([...failed, 'url_refused']);
    expect(await copied({ source: { url: `${at}/exact` } })).toMatchObject({ bytes: BYTES_MAX });
  });
});

describe('a result', () => {
  const made = (over: Record<string, unknown> = {}) => copied({ source: hello, ...over });
  const changed = (url: string, change: (link: URL) => void) => {
    const link = new URL(url);
    change(link);
    return link.href;
  };
  const fetched = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(url, { headers });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };

  test('comes as a link of an hour that needs no key, takes HEAD, ranges and If-Range', async () => {
    const { url, expires_at, content_base64: content } = await made({ as: 'application/pdf', filename: 'a "b".pdf' });
    expect(content).toBeNull();
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    const whole = await fetched(url);
    expect([whole.status, whole.text]).toEqual([200, 'hello']);
    expect(whole.headers.get('content-type')).toBe('application/pdf');
    expect(whole.headers.get('content-disposition')).toBe('inline; filename="a _b_.pdf"');
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
    const etag = whole.headers.get('etag') as string;
    const part = await fetched(url, { range: 'bytes=1-2', 'if-range': etag });
    expect([part.status, part.text]).toEqual([206, 'el']);
  });

  test('longer than 1 MiB comes as a link, also where it was wanted in the answer', async () => {
    const { url, content_base64: content, bytes } = await made({ source: { url: `${at}/exact` }, inline: true });
    expect([content, bytes]).toEqual([null, BYTES_MAX]);
    expect((await fetched(url)).text.length).toBe(BYTES_MAX);
  });

  test.each(['text/html', 'image/svg+xml', 'application/x-unknown'])('of %s is never shown as a page', async (as) => {
    const { headers } = await fetched((await made({ as })).url);
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('cannot be had by a link that was changed in any part, or that has ended', async () => {
    const { url } = await made();
    const other = await made();
    const forged = [
      changed(url, (link) => link.searchParams.set('exp', String(Number(link.searchParams.get('exp')) + 1))),
      changed(url, (link) => link.searchParams.set('bytes', '4')),
      changed(url, (link) => link.searchParams.set('as', 'other.exe')),
      changed(url, (link) => link.searchParams.set('sig', `${link.searchParams.get('sig')}x`)),
      changed(url, (link) => link.searchParams.delete('sig')),
      changed(url, (link) => {
        link.pathname = new URL(other.url).pathname;
      }),
      changed(url, (link) => {
        link.pathname = link.pathname.replace(/bin$/, 'html');
      }),
    ];
    for (const href of forged) {
      const { status, text } = await fetched(href);
      expect([status, JSON.parse(text).error.code], href).toEqual([403, 'LINK_EXPIRED']);
    }
    const strange = await fetched(`${service.url}/v1/files/..%2f..%2fetc%2fpasswd`);
    expect([strange.status, JSON.parse(strange.text).error.code]).toEqual([404, 'NOT_FOUND']);
    await service.advance(3_601);
    expect((await fetched(url)).status).toBe(403);
  });

  test('is kept in a bucket, and read from one, each as a call of storage', async () => {
    const { costs, own } = await (async () => {
      const account = await createTestAccount(service.core);
      const own = client(service.url, account.secret);
      await own('POST', '/v1/storage/bucket/create', { bucket: 'box' });
      const costs = async (body: unknown) => {
        const reply = await own('POST', '/v1/copier/copy', body);
        expect(reply.status, reply.text).toBe(200);
        return [reply.body.data, reply.body.metadata.cost_usd];
      };
      return { costs, own };
    })();
    const stored = await costs({ source: hello, as: 'text/plain', store: { bucket: 'box', key: 'a/b' } });
    expect(stored[0]).toMatchObject({ bucket: 'box', key: 'a/b', bytes: 5, url: null, content_base64: null });
    const [read] = await costs({ source: { bucket: 'box', key: 'a/b' }, inline: true });
    expect(read).toMatchObject({ ...hello, said: 'text/plain' });
    const usage = await own('GET', '/v1/storage/object/head?bucket=box&key=a/b');
    expect(usage.body.data).toMatchObject({ bytes: 5, content_type: 'text/plain' });
    const missing = await own('POST', '/v1/copier/copy', { source: { bucket: 'box', key: 'none' } });
    expect([missing.status, missing.body.error.code, missing.body.error.param]).toEqual([
      404,
      'OBJECT_NOT_FOUND',
      'source.key',
    ]);
  });

  test('is neither read nor kept by a key that may not do so by storage itself', async () => {
    const account = await createTestAccount(service.core, 100, ['copier']);
    const own = client(service.url, account.secret);
    for (const body of [
      { source: { bucket: 'box', key: 'k' } },
      { source: hello, store: { bucket: 'box', key: 'k' } },
    ]) {
      const reply = await own('POST', '/v1/copier/copy', body);
      expect([reply.status, reply.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    }
  });

  test('for a bucket that does not exist is refused before the work', async () => {
    expect(await refusal({ source: { url: `${at}/missing` }, store: { bucket: 'b', key: 'k' } })).toEqual([
      404,
      'BUCKET_NOT_FOUND',
      'store.bucket',
      undefined,
    ]);
  });

  test('is removed by the sweep once its link has ended, and nothing else is', async () => {
    const { url } = await made();
    const { assets } = service.core as Services;
    await assets.put('acct_x/vid_1.mp4', Buffer.from('video'));
    const { signal } = new AbortController();
    await madeFilesSweep(service.core).run(signal);
    expect((await fetched(url)).status).toBe(200);
    while (await madeFilesSweep(service.core, -1_000).run(signal));
    expect((await fetched(url)).status).toBe(404);
    expect((await assets.read('acct_x/vid_1.mp4')).toString()).toBe('video');
  });
});
