// Pictures that no program writes: small files of much work.
import { crc32, deflateSync } from 'node:zlib';

interface PngShape {
  readonly width: number;
  readonly height: number;
  readonly depth?: 8 | 16;
  readonly alpha?: boolean;
  /** As EXIF says it. */
  readonly orientation?: number;
  readonly animated?: boolean;
  /** Further chunks, before the picture. */
  readonly chunks?: readonly Buffer[];
}

/** A PNG of nothing but zeros. */
export function pngOf(shape: PngShape): Buffer {
  const { width, height, depth = 8, alpha = false, orientation, animated = false, chunks = [] } = shape;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, alpha ? 6 : 2], 8);
  const rows = Buffer.alloc(height * (1 + (width * (alpha ? 4 : 3) * depth) / 8));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(orientation === undefined ? [] : [chunk('eXIf', exifOf(orientation))]),
    ...(animated ? [chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0]))] : []),
    ...chunks,
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** A chunk of text that inflates to so many bytes. */
export function textBomb(bytes: number): Buffer {
  return chunk(
    'zTXt',
    Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), deflateSync(Buffer.alloc(bytes), { level: 9 })]),
  );
}

/** A GIF of so many frames of one pixel, on a canvas of this size. */
export function gifOf(width: number, height: number, frames: number): Buffer {
  const head = Buffer.from('GIF89a', 'latin1');
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen.set([0x80, 0, 0], 4);
  const palette = Buffer.from([0, 0, 0, 255, 255, 255]);
  const control = Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0]);
  const all = new Array<Buffer>(frames).fill(Buffer.concat([control, frame]));
  return Buffer.concat([head, screen, palette, ...all, Buffer.from([0x3b])]);
}

function exifOf(orientation: number): Buffer {
  const bytes = Buffer.alloc(26);
  bytes.write('MM\0*', 0, 'latin1');
  bytes.writeUInt32BE(8, 4);
  bytes.writeUInt16BE(1, 8);
  bytes.writeUInt16BE(0x112, 10);
  bytes.writeUInt16BE(3, 12);
  bytes.writeUInt32BE(1, 14);
  bytes.writeUInt16BE(orientation, 18);
  return bytes;
}

/** A grey progressive JPEG: each scan of some 60 bytes goes over all of it and says that there is nothing. */
export function jpegOfScans(width: number, height: number, scans: number): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  // One code, 0: for brightness the difference nought, for the rest an end of 16,384 and so many blocks as 14 bits say.
  const oneCode = (table: number, symbol: number) =>
    segment(0xc4, [table, 1, ...new Array<number>(15).fill(0), symbol]);
  const scan = Buffer.concat([segment(0xda, [1, 1, 0, 1, 63, 0]), runsOver(blocks)]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...new Array<number>(64).fill(1)]),
    segment(0xc2, [8, ...twoBytes(height), ...twoBytes(width), 1, 1, 0x11, 0]),
    oneCode(0x00, 0),
    oneCode(0x10, 0xe0),
    segment(0xda, [1, 1, 0, 0, 0, 0]),
    Buffer.alloc(Math.ceil(blocks / 8)),
    ...new Array<Buffer>(scans - 1).fill(scan),
    Buffer.from([0xff, 0xd9]),
  ]);
}

function runsOver(blocks: number): Buffer {
  const bits = `0${'1'.repeat(14)}`.repeat(Math.ceil(blocks / 32_767));
  const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1').match(/.{8}/g) ?? [];
  // Of coded data a byte of ones is followed by one of noughts.
  return Buffer.from(bytes.flatMap((byte) => (byte === '11111111' ? [0xff, 0] : [Number.parseInt(byte, 2)])));
}

function segment(marker: number, data: readonly number[]): Buffer {
  return Buffer.from([0xff, marker, ...twoBytes(2 + data.length), ...data]);
}

const twoBytes = (value: number) => [value >> 8, value & 255];
