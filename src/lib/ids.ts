// Ids: a prefix and 22 base62 characters, the first 8 from the clock, so that ids sort by time (contract §1).
import { randomFillSync } from 'node:crypto';
import { encodeNumber, randomDigits } from './base62.ts';

const TIME_DIGITS = 8;
const RANDOM_DIGITS = 14;
const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] as number;
  used += 1;
  return byte;
}

/** Base62 characters from the system's random source. */
export function randomText(length: number): string {
  return randomDigits(length, randomByte);
}

/** `prefix` includes its underscore: `newId('key_')`. 83 random bits; unique without coordination. */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  return prefix + encodeNumber(nowMs, TIME_DIGITS) + randomDigits(RANDOM_DIGITS, randomByte);
}
