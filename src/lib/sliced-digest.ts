// SHA-256 of many bytes on this thread, in time slices. A thread of the runtime would take a copy, which blocks the event loop for longer (10
// MiB: 40 ms and more). It also accepts no memory shared between threads.
import { createHash } from 'node:crypto';
import { TimeSlices } from './time-slices.ts';

/** Some 0.3 ms. */
const PIECE_BYTES = 256 * 1024;
const slices = new TimeSlices();

export async function slicedSha256(bytes: Uint8Array): Promise<Buffer> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0 && slices.isOver) await slices.next();
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash.digest();
}
