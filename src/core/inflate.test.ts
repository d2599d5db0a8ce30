import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Encoding, inflateBody } from './inflate.ts';

const bytes = Buffer.concat([randomBytes(200_000), Buffer.alloc(300_000)]);
const MAX = 1_000_000;
const encoders = [
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['deflate', zlib.deflateRawSync],
  ['br', (body: Buffer) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', zlib.zstdCompressSync],
] as const;

async function* sent(...blocks: Buffer[]): AsyncGenerator<Buffer> {
  yield* blocks;
}

async function whole(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of body) blocks.push(block);
  return Buffer.concat(blocks);
}

describe.each(encoders)('a body in %s', (encoding, encode) => {
  const body = encode(bytes);

  test('is inflated, however it arrives', async () => {
    const blocks = [Buffer.alloc(0), body.subarray(0, 1), body.subarray(1, 1_000), body.subarray(1_000)];
    expect((await whole(inflateBody(sent(...blocks), encoding, MAX))).equals(bytes)).toBe(true);
    expect(await whole(inflateBody(sent(), encoding, MAX))).toHaveLength(0);
  });

  test('ends at the bound, and takes no more of what arrives', async () => {
    let taken = 0;
    let isEnded = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (; taken < 1_000; taken += 1) yield body;
      } finally {
        isEnded = true;
      }
    }
    const bomb = inflateBody(endless(), encoding, 100_000);
    await expect(whole(bomb)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    await expect.poll(() => isEnded).toBe(true);
    expect(taken).toBeLessThan(100);
  });

  test.each([
    ['cut short', sent(body.subarray(0, body.length - 10))],
    ['noise', sent(Buffer.from('{"is":"not compressed"}'.repeat(10)))],
  ])('that is %s is told so', async (_what, broken) => {
    await expect(whole(inflateBody(broken, encoding, MAX))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test('fails with what the body fails with', async () => {
    const gone = new Error('the client left');
    async function* leaving(): AsyncGenerator<Buffer> {
      yield body.subarray(0, 1_000);
      throw gone;
    }
    await expect(whole(inflateBody(leaving(), encoding, MAX))).rejects.toBe(gone);
  });
});

test('a window of zstd that would take much memory is refused', async () => {
  const params = { [zlib.constants.ZSTD_c_windowLog]: 25, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 };
  const wide = zlib.zstdCompressSync(Buffer.alloc(40_000_000), { params });
  const body = inflateBody(sent(wide), 'zstd' satisfies Encoding, 100_000_000);
  await expect(whole(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
