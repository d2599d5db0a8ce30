// Checks a picture's bytes before decoding: its format, whether it is animated, and whether decoding would go over it more often than
// usual. Nothing is inflated; each check is one pass over the bytes.
import type { PictureRefusal } from './wire.ts';

export type PictureFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff' | 'avif';

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const PNG_CHUNK_BYTES = 12;

/** Brands of an AVIF in its first box (AV1 Image File Format, 6): a picture, and a sequence of them. */
const AVIF_BRANDS: ReadonlySet<string> = new Set(['avif', 'avis']);
const BRANDS_BYTES_MAX = 256;

/** By its first bytes; null: it is none of these. */
export function formatOf(bytes: Buffer): PictureFormat | null {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return 'jpeg';
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png';
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'webp';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif';
  if (/^(?:II[*+]\0|MM\0[*+])/.test(head)) return 'tiff';
  return head.slice(4, 8) === 'ftyp' && isAvif(bytes) ? 'avif' : null;
}

/** By the major brand, or any that it is compatible with: HEIC is in such boxes too. */
function isAvif(bytes: Buffer): boolean {
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, BRANDS_BYTES_MAX);
  const brands = Array.from({ length: Math.max(0, (end - 8) >> 2) }, (_, i) =>
    bytes.toString('latin1', 8 + i * 4, 12 + i * 4),
  );
  return brands.some((brand) => AVIF_BRANDS.has(brand));
}

/** Null: it may be decoded. A progressive JPEG has some ten scans, each of which goes over the whole picture. */
export function refusedByScans(bytes: Buffer, format: PictureFormat, scansMax: number): PictureRefusal | null {
  if (format !== 'jpeg' || scansIn(bytes, scansMax) <= scansMax) return null;
  return { rule: 'image_too_costly', message: `A JPEG has at most ${scansMax} scans; save it again.` };
}

/** `acTL` before the first image data (PNG, third edition, 11.3.6). */
export function isAnimatedPng(bytes: Buffer): boolean {
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
