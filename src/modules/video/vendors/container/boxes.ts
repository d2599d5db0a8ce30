// Top-level boxes of an MP4 (ISO/IEC 14496-12): finds the index, checks that it can be read in bounded time, and moves it to the front. So a
// player can start before the download ends. Only the index is held in memory.
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

export interface Box {
  readonly type: string;
  readonly start: number;
  readonly size: number;
}

const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** A video has a handful; a hostile one would have millions. */
const BOXES_MAX = 10_000;
const INDEX_BYTES_MAX = 64 * 1024 * 1024;
/** In one piece of the media: minutes of sound without compression. Who looks for one sample counts through them. */
const SAMPLES_MAX = 2 ** 24;
const UINT32_MAX = 2 ** 32 - 1;

/** Why a file is no MP4 of ours. */
export class Unsound extends Error {}

/** Boxes of the file, in order. Throws Unsound where they do not add up. */
export async function readBoxes(path: string): Promise<Box[]> {
  const file = await open(path);
  try {
    const { size: bytes } = await file.stat();
    const boxes: Box[] = [];
    for (let start = 0; start < bytes; ) {
      const box = await boxAt(file, start, bytes);
      boxes.push(box);
      if (boxes.length > BOXES_MAX) throw new Unsound('it has too many parts');
      start += box.size;
    }
    return boxes;
  } finally {
    await file.close();
  }
}

async function boxAt(file: FileHandle, start: number, end: number): Promise<Box> {
  const header = Buffer.alloc(LONG_HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, LONG_HEADER_BYTES, start);
  if (bytesRead < HEADER_BYTES) throw new Unsound('it breaks off');
  const short = header.readUInt32BE(0);
  // 0: up to the end of the file; 1: the length follows as 64 bits.
  const size = short === 0 ? end - start : short === 1 ? Number(header.readBigUInt64BE(8)) : short;
  if (size < (short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES) || start + size > end) throw new Unsound('it breaks off');
  return { type: header.toString('latin1', 4, 8), start, size };
}

/** Throws Unsound for an index that takes long to read, whatever the size of the video. */
export async function checkIndex(path: string, boxes: readonly Box[]): Promise<void> {
  const box = boxes.find(({ type }) => type === 'moov');
  if (box === undefined) return;
  const index = await readIndex(path, box);
  walk(index, 0, index.length, (type, start, end) => {
    if (type === 'stsc') checkPieces(index, start, end);
  });
}

/** Moves the index to the front, unless it is there. Throws Unsound for an index that cannot be moved. */
export async function putIndexFirst(path: string, boxes: readonly Box[]): Promise<void> {
  const index = boxes.find(({ type }) => type === 'moov');
  const media = boxes.find(({ type }) => type === 'mdat');
  if (index === undefined || media === undefined || index.start < media.start) return;
  const moved = await readIndex(path, index);
  // What lies between the media and the index moves back by the length of the index; what is behind it stays.
  shiftOffsets(moved, { from: media.start, to: index.start, by: index.size });
  const written = `${path}.front`;
  try {
    const pieces = [
      { start: 0, size: media.start },
      moved,
      { start: media.start, size: index.start - media.start },
      { start: index.start + index.size, size: Number.POSITIVE_INFINITY },
    ];
    for (const piece of pieces) await append(written, path, piece);
    await rename(written, path);
  } finally {
    await rm(written, { force: true });
  }
}

async function append(to: string, from: string, piece: Buffer | { start: number; size: number }): Promise<void> {
  const target = createWriteStream(to, { flags: 'a', mode: 0o600 });
  if (Buffer.isBuffer(piece)) await pipeline([piece], target);
  else if (piece.size > 0) {
    const { start, size } = piece;
    await pipeline(createReadStream(from, { start, end: start + size - 1 }), target);
  } else target.destroy();
}

async function readIndex(path: string, { start, size }: Box): Promise<Buffer> {
  if (size > INDEX_BYTES_MAX) throw new Unsound('its index is too large');
  const file = await open(path);
  try {
    const part = Buffer.alloc(size);
    await file.read(part, 0, size, start);
    return part;
  } finally {
    await file.close();
  }
}

interface Shift {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

/** Of a table: version, flags, and how many entries it has. */
const TABLE_HEAD_BYTES = 8;
const PIECES_ENTRY_BYTES = 12;
const HOLDERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);

/** Changes the places of chunks (`stco`, `co64`) that the index names. */
function shiftOffsets(index: Buffer, shift: Shift): void {
  walk(index, 0, index.length, (type, start, end) => {
    if (type === 'stco' || type === 'co64') shiftTable(index, start, end, type, shift);
  });
}

/** Visits what boxes of the index hold, but for those that hold boxes. */
function walk(bytes: Buffer, start: number, end: number, visit: (type: string, start: number, end: number) => void) {
  for (let at = start; at + HEADER_BYTES <= end; ) {
    const short = bytes.readUInt32BE(at);
    const isLong = short === 1 && at + LONG_HEADER_BYTES <= end;
    const header = isLong ? LONG_HEADER_BYTES : HEADER_BYTES;
    const size = short === 0 ? end - at : isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    if (size < header || at + size > end) throw new Unsound('its index does not add up');
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (HOLDERS.has(type)) walk(bytes, at + header, at + size, visit);
    else visit(type, at + header, at + size);
    at += size;
  }
}

/** How many entries of `width` bytes a table says that it has. Throws Unsound where they are not there. */
function entriesOf(bytes: Buffer, start: number, end: number, width: number): number {
  const entries = start + TABLE_HEAD_BYTES <= end ? bytes.readUInt32BE(start + 4) : -1;
  if (entries < 0 || start + TABLE_HEAD_BYTES + entries * width > end) throw new Unsound('its index does not add up');
  return entries;
}

/** `stsc`: each entry is the first piece that it is about, samples in each, and what describes them. */
function checkPieces(bytes: Buffer, start: number, end: number): void {
  const entries = entriesOf(bytes, start, end, PIECES_ENTRY_BYTES);
  for (let n = 0; n < entries; n += 1) {
    const samples = bytes.readUInt32BE(start + TABLE_HEAD_BYTES + n * PIECES_ENTRY_BYTES + 4);
    if (samples > SAMPLES_MAX) throw new Unsound('its index does not add up');
  }
}

function shiftTable(bytes: Buffer, start: number, end: number, type: 'stco' | 'co64', { from, to, by }: Shift): void {
  const width = type === 'stco' ? 4 : 8;
  const entries = entriesOf(bytes, start, end, width);
  const first = start + TABLE_HEAD_BYTES;
  for (let at = first; at < first + entries * width; at += width) {
    const place = width === 4 ? bytes.readUInt32BE(at) : Number(bytes.readBigUInt64BE(at));
    if (place < from || place >= to) continue;
    if (width === 8) bytes.writeBigUInt64BE(BigInt(place + by), at);
    else if (place + by > UINT32_MAX) throw new Unsound('its index cannot be moved');
    else bytes.writeUInt32BE(place + by, at);
  }
}
