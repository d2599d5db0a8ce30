// Addresses that show objects as images: rendered and paid once, kept, and gone with what they name.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imageLink } from '../../src/modules/image/links/link-route.ts';
import { type Own, StorageBench } from '../storage/harness.ts';

let bench: StorageBench;
beforeAll(async () => {
  bench = await StorageBench.start();
});
afterAll(() => bench.stop());

const picture = (color: string) =>
  sharp({ create: { width: 40, height: 20, channels: 3, background: color } })
    .png()
    .toBuffer();

async function withPicture(color = 'red'): Promise<Own> {
  const own = await bench.withAccount();
  await store(own, color);
  return own;
}

async function store(own: Own, color: string): Promise<void> {
  const content_base64 = (await picture(color)).toString('base64');
  await own.data('POST', '/v1/storage/object/put', {
    bucket: 'work',
    key: 'a.png',
    content_base64,
    content_type: 'image/png',
  });
}

const source = { bucket: 'work', key: 'a.png' };
const linkTo = async (own: Own, fields: object): Promise<string> =>
  (await own.data('POST', '/v1/image/link', { source, ...fields })).url;
const seen = async (url: string) => {
  const reply = await fetch(url);
  expect(
    reply.status,
    await reply
      .clone()
      .text()
      .catch(() => ''),
  ).toBe(200);
  const bytes = Buffer.from(await reply.arrayBuffer());
  return { reply, bytes, ...(await sharp(bytes).metadata()) };
};
const small = { resize: { width: 10 }, format: 'webp' };

describe('a link to an image', () => {
  test('shows it transformed, and is charged once, as a transform and a read', async () => {
    const own = await withPicture();
    const url = await linkTo(own, { transform: small });
    const before = await bench.balance(own.accountId);
    const first = await seen(url);
    expect([first.format, first.width, first.height]).toEqual(['webp', 10, 5]);
    expect(first.reply.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(before - (await bench.balance(own.accountId))).toBe(200_400n);
    const again = await seen(url);
    expect(again.bytes).toEqual(first.bytes);
    expect(before - (await bench.balance(own.accountId))).toBe(200_400n);
  });

  test('answers parts, and nothing to who has it already', async () => {
    const url = await linkTo(await withPicture(), { transform: small });
    const { reply, bytes } = await seen(url);
    const part = await fetch(url, { headers: { range: 'bytes=0-3' } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(0, 4)]);
    const etag = reply.headers.get('etag') as string;
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test('asked for by many at once is rendered and charged once', async () => {
    const own = await withPicture();
    const url = await linkTo(own, { transform: small });
    const before = await bench.balance(own.accountId);
    const replies = await Promise.all(Array.from({ length: 8 }, () => fetch(url)));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(before - (await bench.balance(own.accountId))).toBe(200_400n);
  });

  test('follows the object and the preset', async () => {
    const own = await withPicture('red');
    await own.data('PUT', '/v1/image/preset/set', { name: 'thumb', transform: { resize: { width: 8 } } });
    const url = await linkTo(own, { preset: 'thumb' });
    const colorOf = async () =>
      (
        await sharp((await seen(url)).bytes)
          .raw()
          .toBuffer()
      ).subarray(0, 3);
    expect([...(await colorOf())]).toEqual([255, 0, 0]);
    await store(own, 'blue');
    expect([...(await colorOf())]).toEqual([0, 0, 255]);
    await own.data('PUT', '/v1/image/preset/set', { name: 'thumb', transform: { resize: { width: 4 } } });
    expect((await seen(url)).width).toBe(4);
    const { items } = await own.data('GET', '/v1/image/preset/list');
    expect(items).toMatchObject([{ name: 'thumb', transform: { resize: { width: 4 } } }]);
    await own.data('DELETE', '/v1/image/preset/delete/thumb');
    expect((await fetch(url)).status).toBe(404);
  });

  test('ends by time, with its key, with its object, and with any character of it', async () => {
    const own = await withPicture();
    const url = await linkTo(own, { transform: small, expires_seconds: 60 });
    const other = url.endsWith('A') ? 'B' : 'A';
    expect((await fetch(`${url.slice(0, -1)}${other}`)).status).toBe(403);
    await seen(url);
    await bench.test.advance(61);
    expect((await fetch(url)).status).toBe(403);
    const lasting = await linkTo(own, { transform: small });
    await seen(lasting);
    await own.data('POST', '/v1/storage/object/delete', { bucket: 'work', keys: ['a.png'] });
    expect((await fetch(lasting)).status).toBe(404);
    await store(own, 'red');
    await own.data('DELETE', `/v1/account/keys/revoke/${own.keyId}`);
    await expect.poll(async () => (await fetch(lasting)).status).toBe(403);
  });

  test('by a key of another account shows nothing', async () => {
    const [own, other] = [await withPicture(), await withPicture()];
    const of = { ...source, accountId: own.accountId, transform: JSON.stringify(small), preset: null };
    const linkBy = (keyId: string) => imageLink(bench.core, { ...of, keyId, endMs: Date.now() + 1e12 });
    // What this deployment itself would write for a key that had moved.
    expect((await fetch(linkBy(other.keyId))).status).toBe(403);
    await seen(linkBy(own.keyId));
  });

  test('of what is no image, or without credit, keeps and costs nothing', async () => {
    const own = await bench.withAccount();
    await own.put('work', 'a.png', 'no image');
    const url = await linkTo(own, { transform: small });
    const before = await bench.balance(own.accountId);
    expect((await fetch(url)).status).toBe(400);
    // The object was read; nothing was made of it.
    expect(before - (await bench.balance(own.accountId))).toBe(400n);
    await store(own, 'red');
    await bench.drain(own.accountId);
    expect((await fetch(url)).status).toBe(402);
    const text = 'SELECT count(*)::int AS n FROM image.rendered r WHERE r.account_id = $1';
    expect((await bench.core.db.query<{ n: number }>({ name: '', text }, [own.accountId])).rows[0]?.n).toBe(0);
  });

  test.each([
    [{ transform: small, preset: 'thumb' }, 400, 'VALIDATION_FAILED', 'transform'],
    [{}, 400, 'VALIDATION_FAILED', 'transform'],
    [{ preset: 'none' }, 404, 'NOT_FOUND', 'preset'],
    [{ transform: { resize: {} } }, 400, 'VALIDATION_FAILED', 'resize'],
  ])('%j is refused, naming the field', async (fields, status, code, param) => {
    const own = await withPicture();
    const reply = await own.call('POST', '/v1/image/link', { source, ...fields });
    expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([status, code, param]);
  });
});
