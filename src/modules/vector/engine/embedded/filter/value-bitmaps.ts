// Bitmaps of the rows that hold a value, beside the value's chain, for values of many rows. A filter then reads words, 32 rows at a time,
// instead of walking entries. Bitmaps follow every change of a row. A bitmap never takes more than 12 bytes for each row that holds the value,
// and 250.

import { withRoom } from '../memory/growing.ts';
import { type Bitmap, bitmapFor, clearBit, setBit } from './bitmap.ts';

/** With fewer rows the chain is walked within microseconds. */
const ROWS_MIN = 256;
/** Made when one in so many rows holds the value, and gone when less than one in twice as many does: neither happens at every change. */
const BITS_A_ROW_MADE = 32;
const BITS_A_ROW_MAX = 64;
/** The array and its place in the map. */
const FIXED_BYTES = 250;

export class ValueBitmaps {
  readonly #bitmaps = new Map<number, Bitmap>();
  readonly #mark: (code: number, bitmap: Bitmap) => void;
  #bytes = 0;

  /** @param mark adds the rows that hold a value */
  constructor(mark: (code: number, bitmap: Bitmap) => void) {
    this.#mark = mark;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** To be read until the next change; rows beyond its end do not hold the value. Undefined: there is only the chain. */
  of(code: number): Bitmap | undefined {
    return this.#bitmaps.get(code);
  }

  /**
   * A row holds the value now.
   * @param count how many do
   * @param size one more than the highest row number
   */
  add(code: number, row: number, count: number, size: number): void {
    const bitmap = this.#bitmaps.get(code);
    if (bitmap === undefined) {
      if (count < ROWS_MIN || count * BITS_A_ROW_MADE < size) return;
      const made = bitmapFor(size);
      this.#mark(code, made);
      this.#keep(code, made);
    } else if (row < bitmap.length * 32) setBit(bitmap, row);
    else if (row > count * BITS_A_ROW_MAX) this.#drop(code, bitmap);
    else {
      const grown = withRoom(bitmap, (row >>> 5) + 1);
      setBit(grown, row);
      this.#bytes -= bitmap.byteLength + FIXED_BYTES;
      this.#keep(code, grown);
    }
  }

  /** A row holds the value no more. @param count how many still do */
  remove(code: number, row: number, count: number): void {
    const bitmap = this.#bitmaps.get(code);
    if (bitmap === undefined) return;
    if (bitmap.length * 32 > count * BITS_A_ROW_MAX) this.#drop(code, bitmap);
    else clearBit(bitmap, row);
  }

  #keep(code: number, bitmap: Bitmap): void {
    this.#bitmaps.set(code, bitmap);
    this.#bytes += bitmap.byteLength + FIXED_BYTES;
  }

  #drop(code: number, bitmap: Bitmap): void {
    this.#bitmaps.delete(code);
    this.#bytes -= bitmap.byteLength + FIXED_BYTES;
  }
}
