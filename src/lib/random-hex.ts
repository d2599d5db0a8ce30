// Random hexadecimal digits from a buffer that is refilled at intervals: one system call for many IDs.
import { randomFillSync } from 'node:crypto';

const buffer = Buffer.allocUnsafe(3072);
let used = buffer.length;

export function randomHex(bytes: number): string {
  if (used + bytes > buffer.length) {
    randomFillSync(buffer);
    used = 0;
  }
  used += bytes;
  return buffer.toString('hex', used - bytes, used);
}

/** 63 random bits: fits a bigint column. */
export function randomBigInt(): bigint {
  return BigInt(`0x${randomHex(8)}`) >> 1n;
}
