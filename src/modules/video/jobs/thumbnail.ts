// Converts a vendor's thumbnail of a video to a small JPEG.

import { rename } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { JobRow } from '../../../jobs/row.ts';
import type { AccountPictures } from '../../../pictures/account-pictures.ts';
import type { MadePicture, PictureTask } from '../vendors/port.ts';

const BYTES_MAX = 10 * 1024 * 1024;
const SIDE_PX_MAX = 1_280;

/** Writes it to `to`; false for what is too large, breaks off, is no picture, or cannot be made now. */
export async function saveThumbnail(
  pictures: AccountPictures<PictureTask, MadePicture>,
  { account_id: accountId }: Pick<JobRow, 'account_id'>,
  body: Readable,
  to: string,
  signal: AbortSignal,
): Promise<boolean> {
  const bytes = await readAll(body).catch(() => null);
  if (bytes === null) return false;
  const task = { kind: 'thumbnail', sidePx: SIDE_PX_MAX } as const;
  const made = await pictures.make(accountId, bytes, task, signal, (path) => rename(path, to));
  return made.kind === 'made';
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
