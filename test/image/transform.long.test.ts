// The calls of images: what they answer, what they cost, and what they refuse before they work.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PICTURE } from '../../src/modules/image/capabilities/examples.ts';
import { gifOf, pngOf } from '../support/hostile-pictures.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { blank } from './harness.ts';

let service: TestService;
let call: Client;
let photos: Server;
let at: string;
beforeAll(async () => {
  const photo = await blank(1_200, 800).jpeg().toBuffer();
  photos = createServer((request, reply) => void reply.writeHead(request.url === '/photo' ? 200 : 404).end(photo));
  await new Promise<void>((resolve) => photos.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(photos.address() as AddressInfo).port}`;
  service = await startTestService({ env: { ALLOW_PRIVATE_SOURCES: '127.0.0.1/32' } });
  call = client(service.url, (await createTestAccount(service.core)).secret);
});
afterAll(async () => {
  await service.stop();
  photos.close();
});

const small = { source: { content_base64: PICTURE }, resize: { width: 2 } };
const send = (body: object, by = call) => by('POST', '/v1/image/transform', body);
const base64 = (bytes: Buffer) => bytes.toString('base64');

test('an image of a URL becomes a thumbnail behind a link that needs no key', async () => {
  const { body } = await send({ source: { url: `${at}/photo` }, resize: { width: 300 }, format: 'webp' });
  expect(body.data).toMatchObject({ format: 'webp', width: 300, height: 200, pages: 1, content_type: 'image/webp' });
  expect(body.metadata.cost_usd).toBe(0.0002);
  const file = await fetch(body.data.url);
  expect(file.headers.get('content-type')).toBe('image/webp');
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.length).toBe(body.data.bytes);
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 300, height: 200 });
});

test('a long image is read from the body, and a short result stands in the answer', async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const long = await sharp({ create: { width: 1_500, height: 1_000, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer();
  expect(long.length).toBeGreaterThan(2_000_000);
  const { body } = await send({
    source: { content_base64: `data:image/png;base64,${base64(long)}` },
    resize: { width: 50 },
    inline: true,
  });
  expect(body.data).toMatchObject({ width: 50, height: 33, url: null });
  expect(await sharp(Buffer.from(body.data.content_base64, 'base64')).metadata()).toMatchObject({ width: 50 });
});

test('info tells what an image is, for nothing', async () => {
  const { body } = await call('POST', '/v1/image/info', { source: { content_base64: base64(gifOf(20, 10, 3)) } });
  expect(body.data).toMatchObject({ format: 'gif', width: 20, height: 10, pages: 3, has_alpha: false });
  expect(body.metadata.cost_usd).toBe(0);
});

test('a repeat with its idempotency key is answered the same and charged once', async () => {
  const account = await createTestAccount(service.core);
  const by = client(service.url, account.secret);
  const body = { ...small, inline: true, idempotency_key: 'once' };
  const [first, again] = [await send(body, by), await send(body, by)];
  expect(again.body.data).toEqual(first.body.data);
  expect(again.body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
  const { data } = (await by('GET', '/v1/account/usage')).body;
  expect(JSON.stringify(data)).toContain('image.transform');
});

describe('is refused, naming the field, and not charged', () => {
  test.each<[string, object, string, string | undefined]>([
    ['no source', { resize: { width: 2 } }, 'source', undefined],
    ['two sources', { source: { content_base64: PICTURE, url: 'https://example.org/a.png' } }, 'source', 'one_of'],
    ['text', { source: { content_base64: base64(Buffer.from('hello')) } }, 'source', 'not_an_image'],
    ['an SVG', { source: { content_base64: base64(Buffer.from('<svg/>')) } }, 'source', 'not_an_image'],
    ['a bomb', { source: { content_base64: base64(gifOf(2_000, 2_000, 100)) } }, 'source', 'image_size'],
    ['no base64', { source: { content_base64: '{}' } }, 'source.content_base64', 'base64'],
    [
      'a URL that is not there',
      { source: { content_base64: undefined, url: 'http://127.0.0.1:1/none' } },
      'source.url',
      'url_failed',
    ],
    ['an empty resize', { ...small, resize: {} }, 'resize', undefined],
    ['a resize beyond', { ...small, resize: { width: 9_000 } }, 'resize.width', undefined],
    ['a turn that is none', { ...small, rotate: 45 }, 'rotate', undefined],
    ['a colour that is none', { ...small, background: 'red' }, 'background', undefined],
  ])('%s', async (_, body, param, detail) => {
    const reply = await send(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      ...(detail === undefined ? {} : { code_detail: detail }),
    });
    expect(JSON.stringify(reply.body.error)).toContain(`"${param}"`);
    expect(reply.body.metadata.cost_usd).toBe(0);
  });

  test('a bucket that does not exist', async () => {
    const reply = await send({ ...small, store: { bucket: 'none', key: 'a.png' } });
    expect(reply.status).toBe(404);
  });
});

test('an account without credit is refused before its image is fetched', async () => {
  const poor = await createTestAccount(service.core, 0);
  let asked = 0;
  const count = () => {
    asked += 1;
  };
  photos.on('request', count);
  const reply = await send({ source: { url: `${at}/photo` } }, client(service.url, poor.secret));
  photos.off('request', count);
  expect([reply.status, asked]).toEqual([402, 0]);
});

test('while one account sends many large images, the image of another is made, and other calls are answered', async () => {
  const large = {
    source: { content_base64: base64(pngOf({ width: 5_000, height: 4_000 })) },
    format: 'avif',
    resize: { width: 1_000 },
  };
  const busy = client(service.url, (await createTestAccount(service.core)).secret);
  const all = Array.from({ length: 6 }, () => send(large, busy));
  let isOver = false;
  void Promise.all(all).then(() => {
    isOver = true;
  });
  const { status } = await send({ ...small, inline: true });
  expect([status, isOver]).toEqual([200, false]);
  expect((await Promise.all(all)).map((reply) => reply.status)).toEqual(new Array(6).fill(200));
});
