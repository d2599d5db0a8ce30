// What the bytes of a picture say before anything of it is decoded: its format, whether it moves, and what would be decoded more often than
// pictures are. Nothing is inflated; each look goes over the bytes once.
import type { PictureRefusal } from '../port.ts';

export type PictureFormat = 'jpeg' | 'png' | 'webp';

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const PNG_CHUNK_BYTES = 12;

/** By its first bytes; null: it is none of the three. */
export function formatOf(bytes: Buffer): PictureFormat | null {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'jpeg';
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}

/** Null: it may be decoded. A progressive JPEG has some ten scans, each of which goes over the whole picture. */
export function refusedByHead(bytes: Buffer, format: PictureFormat, scansMax: number): PictureRefusal | null {
  if (format === 'png' && isAnimatedPng(bytes)) return { rule: 'image_animated', message: 'The image is animated.' };
  if (format === 'jpeg' && scansIn(bytes, scansMax) > scansMax)
    return { rule: 'image_too_costly', message: `A JPEG has at most ${scansMax} scans; save it again.` };
  return null;
}

/** `acTL` before the first image data (PNG, third edition, 11.3.6). */
function isAnimatedPng(bytes: Buffer): boolean {
  for (let at = PNG_SIGNATURE.length; at + 8 <= bytes.length; at += PNG_CHUNK_BYTES + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'acTL') return true;
    if (type === 'IDAT') return false;
  }
  return false;
}

const SCAN = 0xda;
const END = 0xd9;
/** Markers without a segment: restarts, and what stands for a byte of ones in coded data. */
const isBare = (marker: number) => marker === 0 || marker === 1 || (marker >= 0xd0 && marker <= 0xd7);

/** Scans of a JPEG up to its end (ITU-T T.81, B.2), counted until there are too many. What lies behind the end is no part of the picture. */
function scansIn(bytes: Buffer, scansMax: number): number {
  let scans = 0;
  for (let at = bytes.indexOf(0xff, 2); at !== -1 && at + 4 <= bytes.length && scans <= scansMax; ) {
    const marker = bytes[at + 1] as number;
    if (marker === END) return scans;
    if (marker === SCAN) scans += 1;
    // A segment says how long it is; coded data follows a scan's, and has no marker but bare ones.
    const length = marker === 0xff ? 1 : isBare(marker) ? 2 : 2 + bytes.readUInt16BE(at + 2);
    at = bytes.indexOf(0xff, at + length);
  }
  return scans;
}
