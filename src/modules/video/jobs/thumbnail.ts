// A vendor's picture of a film, made into a small JPEG.
import type { Readable } from 'node:stream';

const BYTES_MAX = 10 * 1024 * 1024;
const PIXELS_MAX = 40_000_000;
const SIDE_PX_MAX = 1_280;

/** Null for what is too large, breaks off, or is no picture. */
export async function readThumbnail(body: Readable): Promise<Buffer | null> {
  const bytes = await readAll(body).catch(() => null);
  if (bytes === null) return null;
  const { default: sharp } = await import('sharp');
  return sharp(bytes, { limitInputPixels: PIXELS_MAX, animated: false })
    .rotate()
    .resize({ width: SIDE_PX_MAX, height: SIDE_PX_MAX, fit: 'inside', withoutEnlargement: true })
    .jpeg()
    .toBuffer()
    .catch(() => null);
}

async function readAll(body: Readable): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += (piece as Buffer).length;
    // Leaving the loop ends the download.
    if (bytes > BYTES_MAX) return null;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}
