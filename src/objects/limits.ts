// Constants of object storage: limits of keys, objects and parts, retention times and price names.
import type { TierLimit } from '../core/callers/tiers.ts';

const GB = 1_000_000_000;
const MIB = 1024 * 1024;

/** What an account may hold, in objects and in parts of uploads. */
export const heldBytesMax = {
  description: 'Bytes that objects and unfinished uploads hold.',
  standard: 10 * GB,
  pro: 100 * GB,
  enterprise: 1_000 * GB,
} satisfies TierLimit;

export const KEY_BYTES_MAX = 1_024;
/** Names and values of an object's metadata together. */
export const METADATA_BYTES_MAX = 2 * 1024;
/** Of one PUT, or one part. */
export const PUT_BYTES_MAX = 5 * 1024 * MIB;
export const OBJECT_BYTES_MAX = 5 * 1024 * 1024 * MIB;
/** Longer bodies are kept in pieces. */
export const PIECE_BYTES_MAX = 2 * 1024 * MIB;
export const PART_BYTES_MIN = 5 * MIB;
export const PARTS_MAX = 10_000;
/** What was begun and not finished in so long is removed. */
export const WRITING_MS = 24 * 60 * 60_000;
/** Bytes that nothing names any more stay so long, for those who read them. */
export const DEAD_MS = 60 * 60_000;
/** An upload without a new part for so long is given up. */
export const UPLOAD_IDLE_MS = 7 * 24 * 60 * 60_000;
/** What completing an upload answered is known for so long. */
export const UPLOAD_ENDED_MS = 60 * 60_000;

export const HOUR_MS = 60 * 60_000;
export const HELD_PRICE = 'storage.held';
export const WRITE_PRICE = 'storage.write';
export const READ_PRICE = 'storage.read';
/** What a call takes beside its own price when it stores its result. */
export const STORE_PRICES = [WRITE_PRICE, 'storage.held'] as const;
/** 0.02 USD for 10^9 bytes over 730 hours: one nano-USD for so many bytes times milliseconds. */
export const BYTE_MS_PER_NANO = 131_400_000_000n;
