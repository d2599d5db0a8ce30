// Images that are made to harm: each is refused by its head or ends with its process, says why, and the next image is made as ever.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ImageBounds, Transform } from '../../src/modules/image/pictures/task.ts';
import { chunk, gifOf, jpegOfScans, pngOf, textBomb } from '../support/hostile-pictures.ts';
import { blank, openEngine } from './harness.ts';

let engine: Awaited<ReturnType<typeof openEngine>>;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><image href="file:///etc/passwd"/></svg>';
const photo = (format: 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif' = 'jpeg') =>
  blank(256, 192).toFormat(format).toBuffer();
const half = async (format: Parameters<typeof photo>[0]) => {
  const bytes = await photo(format);
  return bytes.subarray(0, Math.floor(bytes.length * 0.7));
};

describe('is refused', () => {
  test.each<[string, () => Buffer | Promise<Buffer>, string, Transform]>([
    ['an SVG', () => Buffer.from(svg), 'not_an_image', {}],
    ['an SVG behind a declaration', () => Buffer.from(`<?xml version="1.0"?>${svg}`), 'not_an_image', {}],
    ['a PDF', () => Buffer.from('%PDF-1.7\n'), 'not_an_image', {}],
    ['a BMP', () => Buffer.from('BM\0\0\0\0\0\0\0\0'), 'not_an_image', {}],
    ['a HEIC', () => Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'), 'not_an_image', {}],
    ['an empty file', () => Buffer.alloc(0), 'not_an_image', {}],
    ['the first bytes of a PNG', () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'not_an_image', {}],
    ['half a JPEG', () => half('jpeg'), 'not_an_image', {}],
    ['half a PNG', () => half('png'), 'not_an_image', {}],
    ['half a WebP', () => half('webp'), 'not_an_image', {}],
    ['half a GIF', () => half('gif'), 'not_an_image', {}],
    ['half a TIFF', () => half('tiff'), 'not_an_image', {}],
    ['half an AVIF', () => half('avif'), 'not_an_image', {}],
    ['a JPEG of 1,000 scans', () => jpegOfScans(1_024, 1_024, 1_000), 'image_too_costly', {}],
    ['a PNG of 10 gigapixels in 13 bytes', () => pngHead(100_000, 100_000), 'image_size', {}],
    ['40 megapixels of 16 bits with alpha', () => pngHead(8_000, 5_000, [16, 6]), 'image_size', {}],
    ['a GIF of 101 frames', () => gifOf(10, 10, 101), 'image_frames', {}],
    ['a GIF of 100 frames, each of a megapixel', () => gifOf(1_000, 1_000, 100), 'image_size', {}],
    ['100 frames made large', () => gifOf(10, 10, 100), 'image_size', { resize: { width: 1_000 } }],
    ['a result of more than 8,192 pixels', () => photo(), 'image_size', { resize: { height: 9_000 } }],
    ['a result of 64 megapixels', () => photo(), 'image_size', { resize: { width: 8_000, height: 8_000 } }],
    ['a crop outside', () => photo(), 'image_size', { crop: { left: 200, top: 0, width: 100, height: 10 } }],
  ])('%s', async (_, make, rule, transform) => {
    const { outcome, bytes } = await engine.transform(await make(), transform);
    expect(outcome).toMatchObject({ kind: 'refused', rule });
    expect(bytes).toBeNull();
  });
});

describe('what else is in the file', () => {
  test('of a polyglot nothing is left: not the page behind a GIF, nor the script in a JPEG', async () => {
    const page = Buffer.from('<html><script>alert(1)</script>');
    const behind = await engine.transform(Buffer.concat([await photo('gif'), page]), {});
    expect(behind.bytes?.includes('script')).toBe(false);
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 2 + page.length]), page]);
    const jpeg = await photo();
    const within = await engine.transform(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]), {});
    expect(within.outcome).toMatchObject({ kind: 'made' });
    expect(within.bytes?.includes('script')).toBe(false);
  });

  test.each<[string, Buffer[]]>([
    ['a text that inflates to 100 MB', [textBomb(100_000_000)]],
    ['100,000 texts', new Array<Buffer>(100_000).fill(chunk('tEXt', Buffer.from('a\0b')))],
  ])('%s is made without harm, or refused', async (_, chunks) => {
    const { outcome } = await engine.transform(
      pngOf({ width: 64, height: 64, chunks }),
      {},
      { memoryBytesMax: 128 * 2 ** 20 },
    );
    expect(['made', 'refused']).toContain(outcome.kind);
    expect(outcome).not.toMatchObject({ rule: 'image_too_costly' });
  });
});

describe('ends with its process', () => {
  test.each<[string, Partial<ImageBounds>, object]>([
    ['what takes more processor time', { cpuMsMax: 1 }, { kind: 'refused', rule: 'image_too_costly' }],
    ['what takes more memory', { memoryBytesMax: 1 }, { kind: 'refused', rule: 'image_too_costly' }],
    ['what takes more time than there is', { msMax: 1 }, { kind: 'late' }],
  ])('%s', async (_, over, outcome) => {
    const large = await blank(3_000, 3_000).jpeg().toBuffer();
    const end = await engine.transform(large, { format: 'avif' }, over);
    expect(end.outcome).toMatchObject(outcome);
    expect(end.bytes).toBeNull();
  });
});

test('a TIFF whose directories form a ring ends, and the next image is made', async () => {
  const tiff = await photo('tiff');
  const first = tiff.readUInt32LE(4);
  const entries = tiff.readUInt16LE(first);
  tiff.writeUInt32LE(first, first + 2 + entries * 12);
  expect(['made', 'refused']).toContain((await engine.transform(tiff, {})).outcome.kind);
  expect((await engine.transform(await photo(), {})).outcome).toMatchObject({ kind: 'made' });
});

test('an image of 50 megapixels is made', async () => {
  const large = await sharp({ create: { width: 10_000, height: 5_000, channels: 3, background: '#c84' } })
    .jpeg()
    .toBuffer();
  const { outcome } = await engine.transform(large, { resize: { width: 500 } });
  expect(outcome).toMatchObject({ kind: 'made', widthPx: 500, heightPx: 250 });
});

/** Its head alone: nothing else is looked at. */
function pngHead(width: number, height: number, depthAndKind = [8, 2]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(depthAndKind, 8);
  const rest = [chunk('IDAT', Buffer.alloc(0)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), ...rest]);
}
