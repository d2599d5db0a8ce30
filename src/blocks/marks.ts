// Bloom filter over the marks (words, values) of a block's records, in buckets of 64 bytes: a lookup reads one bucket. Source: "Cache-, Hash-
// and Space-Efficient Bloom Filters" (Putze, Sanders, Singler, 2007). The false-positive rate is about 2 %.

export const BUCKET_BYTES = 64;
const BUCKET_BITS = 512;
const BITS_A_MARK = 10;
const BITS_SET = 5;
/** 4 MiB of marks are more than a block of so many bytes should have; beyond, a filter is full and answers "maybe". */
const BUCKETS_MAX = 65_536;

/** Where a mark stands: its bucket is `bucket` modulo their number. */
export interface MarkPlace {
  readonly bucket: number;
  readonly bits: readonly number[];
}

export class Marks {
  readonly #marks = new Set<string>();
  readonly #news: string[] = [];

  add(mark: string): void {
    this.#marks.add(mark);
  }

  /** The same of a mark that was hardly added before: looking it up takes longer than the bits that a second one costs. */
  addNew(mark: string): void {
    this.#news.push(mark);
  }

  /** The filter; empty when there are no marks. */
  pack(): Buffer {
    const size = this.#marks.size + this.#news.length;
    if (size === 0) return Buffer.alloc(0);
    const buckets = Math.min(BUCKETS_MAX, Math.ceil((size * BITS_A_MARK) / BUCKET_BITS));
    const filter = Buffer.alloc(buckets * BUCKET_BYTES);
    for (const mark of this.#marks) setBits(filter, buckets, mark);
    for (const mark of this.#news) setBits(filter, buckets, mark);
    return filter;
  }
}

function setBits(filter: Buffer, buckets: number, mark: string): void {
  hashMark(mark);
  const at = (hashed.bucket % buckets) * BUCKET_BYTES;
  for (let i = 0, place = hashed.low; i < BITS_SET; i += 1, place = (place + hashed.step) | 0) {
    const bit = place & (BUCKET_BITS - 1);
    filter[at + (bit >> 3)] = (filter[at + (bit >> 3)] as number) | (1 << (bit & 7));
  }
}

export function markPlace(mark: string): MarkPlace {
  hashMark(mark);
  const { bucket, low, step } = hashed;
  const bits = Array.from({ length: BITS_SET }, (_, i) => (low + Math.imul(i, step)) & (BUCKET_BITS - 1));
  return { bucket, bits };
}

/** Of the last mark: nothing is allocated for one. Nothing here is asynchronous. */
const hashed = { bucket: 0, low: 0, step: 0 };

function hashMark(mark: string): void {
  // Two hashes of 32 bits at once, each step of which can be undone (FNV-1a with other primes), and the mixer of MurmurHash3. Whoever finds
  // marks with one hash slows nobody's questions but their own account's.
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let i = 0; i < mark.length; i += 1) {
    const unit = mark.charCodeAt(i);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x5f356495);
  }
  hashed.bucket = mixBits(one ^ mark.length) >>> 0;
  hashed.low = mixBits(two);
  // The odd step reaches every bit.
  hashed.step = mixBits(one + Math.imul(two, 0x9e3779b1)) | 1;
}

function mixBits(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** Whether a bucket of a filter may hold the mark. */
export function mayHold(bucket: Uint8Array, { bits }: MarkPlace): boolean {
  return bits.every((bit) => ((bucket[bit >> 3] as number) & (1 << (bit & 7))) !== 0);
}
