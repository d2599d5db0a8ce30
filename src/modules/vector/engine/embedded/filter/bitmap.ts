// Row sets as bitmaps, one bit per row.

export type Bitmap = Uint32Array<ArrayBuffer>;

export const bitmapFor = (rows: number): Bitmap => new Uint32Array((rows + 31) >>> 5);

export function setBit(bitmap: Bitmap, row: number): void {
  bitmap[row >>> 5] = (bitmap[row >>> 5] as number) | (1 << (row & 31));
}

export function clearBit(bitmap: Bitmap, row: number): void {
  bitmap[row >>> 5] = (bitmap[row >>> 5] as number) & ~(1 << (row & 31));
}

export function hasBit(bitmap: Uint32Array, row: number): boolean {
  return ((bitmap[row >>> 5] as number) & (1 << (row & 31))) !== 0;
}

/** Adds what is in `other`, as far as `bitmap` reaches. */
export function addBits(bitmap: Bitmap, other: Uint32Array): void {
  const words = Math.min(bitmap.length, other.length);
  for (let word = 0; word < words; word += 1) bitmap[word] = (bitmap[word] as number) | (other[word] as number);
}

/** Takes out what is not in `other`, which may be shorter. */
export function keepBits(bitmap: Bitmap, other: Uint32Array): void {
  const words = Math.min(bitmap.length, other.length);
  for (let word = 0; word < words; word += 1) bitmap[word] = (bitmap[word] as number) & (other[word] as number);
  bitmap.fill(0, words);
}

/** Takes out what is in `other`. */
export function takeBits(bitmap: Bitmap, other: Uint32Array): void {
  const words = Math.min(bitmap.length, other.length);
  for (let word = 0; word < words; word += 1) bitmap[word] = (bitmap[word] as number) & ~(other[word] as number);
}

export function countBits(bitmap: Uint32Array): number {
  let count = 0;
  for (let word of bitmap) {
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  }
  return count;
}

/**
 * Writes the numbers of the rows from `start` to `end` (exclusive) that are in the set, less `start`, ascending.
 * @returns how many
 */
export function listBits(bitmap: Uint32Array, start: number, end: number, target: Uint32Array, at: number): number {
  let next = at;
  const words = Math.min(bitmap.length, (end + 31) >>> 5);
  for (let word = start >>> 5; word < words; word += 1) {
    const first = word << 5;
    let rest = bitmap[word] as number;
    if (first < start) rest &= -1 << (start - first);
    if (first + 32 > end) rest &= ~(-1 << (end - first));
    for (; rest !== 0; rest &= rest - 1) {
      target[next] = first - start + 31 - Math.clz32(rest & -rest);
      next += 1;
    }
  }
  return next - at;
}
