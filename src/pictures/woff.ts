// Unpacks a WOFF font to the SFNT that it holds (W3C WOFF 1.0). The font library's own unpacking fails on some files.
import { inflateSync } from 'node:zlib';

const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/** Throws for what is no WOFF file. */
export function unpackWoff(woff: Buffer): Buffer {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('the file is no WOFF font');
  const count = woff.readUInt16BE(12);
  const tables = Array.from({ length: count }, (_, i) => tableOf(woff, WOFF_HEADER + i * WOFF_ENTRY));
  const size = tables.reduce((sum, { bytes }) => sum + paddedLength(bytes.length), SFNT_HEADER + count * SFNT_ENTRY);
  const sfnt = Buffer.alloc(size);
  woff.copy(sfnt, 0, 4, 8);
  sfnt.writeUInt16BE(count, 4);
  let at = SFNT_HEADER + count * SFNT_ENTRY;
  tables.forEach(({ tag, checksum, bytes }, i) => {
    const entry = SFNT_HEADER + i * SFNT_ENTRY;
    sfnt.writeUInt32BE(tag, entry);
    sfnt.writeUInt32BE(checksum, entry + 4);
    sfnt.writeUInt32BE(at, entry + 8);
    sfnt.writeUInt32BE(bytes.length, entry + 12);
    bytes.copy(sfnt, at);
    at += paddedLength(bytes.length);
  });
  return sfnt;
}

function tableOf(woff: Buffer, entry: number) {
  const [tag = 0, offset = 0, packed = 0, length = 0, checksum = 0] = [0, 4, 8, 12, 16].map((at) =>
    woff.readUInt32BE(entry + at),
  );
  const stored = woff.subarray(offset, offset + packed);
  return { tag, checksum, bytes: packed < length ? inflateSync(stored) : stored };
}

function paddedLength(length: number): number {
  return Math.ceil(length / 4) * 4;
}
