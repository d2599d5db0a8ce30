import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Blocks } from './blocks.ts';

/** A chunk with a buffer of its own, as the HTTP parser makes them. */
const chunk = (bytes: number, value: number) => Buffer.from(new Uint8Array(bytes).fill(value).buffer);

async function blocksOf(chunks: readonly Buffer[], bytesMax = 64 * 1024 * 1024): Promise<Blocks> {
  const blocks = new Blocks(Readable.from(chunks), Number.NaN, bytesMax);
  blocks.resume();
  await finished(blocks);
  return blocks;
}

const memoryOf = ({ blocks }: Blocks) =>
  [...new Set(blocks.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);

test('holds a body of chunks of any size, in order', async () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 30_000, max: 70_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(size, { maxLength: 40 }), async (sizes) => {
      const chunks = sizes.map((bytes, i) => chunk(bytes, i));
      const body = Buffer.concat(chunks);
      const held = await blocksOf(chunks);
      expect(held.receivedEncodedLength).toBe(body.length);
      expect(Buffer.concat(held.blocks).equals(body)).toBe(true);
    }),
  );
});

test('takes no more memory for small chunks between large ones', async () => {
  const chunks = Array.from({ length: 200 }, (_, i) => chunk(i % 2 === 0 ? 1 : 32 * 1024, i));
  expect(memoryOf(await blocksOf(chunks))).toBeLessThan(100 * 32 * 1024 + 1024 * 1024 + 1);
});

test('keeps nothing of a body that is too long', async () => {
  expect((await blocksOf([chunk(5, 1), chunk(40_000, 2), chunk(5, 3)], 40_000)).blocks).toEqual([]);
});
