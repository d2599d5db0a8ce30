// Sets of rows, one bit each.

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

export function countBits(bitmap: Bitmap): number {
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
  let count = 0;
  for (let word = start >>> 5; word < bitmap.length && word << 5 < end; word += 1) {
    let rest = bitmap[word] as number;
    while (rest !== 0) {
      const low = 31 - Math.clz32(rest & -rest);
      rest &= rest - 1;
      const row = (word << 5) + low;
      if (row >= start && row < end) {
        target[at + count] = row - start;
        count += 1;
      }
    }
  }
  return count;
}
