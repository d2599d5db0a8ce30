// Postings of metadata values. There is one entry of 20 bytes per (row, value), in a chain of its row and a doubly linked chain of its value.
// Overwriting or deleting a row unlinks its entries, so a chain never names a row without the value. A value that occurs once costs one entry,
// not a list; a value of many rows has a bitmap too.

import { withRoom } from '../memory/growing.ts';
import { addBits, type Bitmap, setBit } from './bitmap.ts';
import { ValueBitmaps } from './value-bitmaps.ts';
import { Values } from './values.ts';

const FIELDS = 5;
const ROW = 0;
const CODE = 1;
const NEXT_OF_VALUE = 2;
const PREVIOUS_OF_VALUE = 3;
const NEXT_OF_ROW = 4;
/** Entries count from 1. */
const END = 0;

export class Postings {
  readonly values = new Values();
  #entries = new Uint32Array(FIELDS * 8);
  #used = 1;
  #free = END;
  #live = 0;
  #firstOfRow = new Uint32Array(0);
  #firstOfValue = new Uint32Array(0);
  #countOfValue = new Uint32Array(0);
  /** One more than the highest row number. */
  #size = 0;
  readonly #bitmaps = new ValueBitmaps((code, bitmap) => this.#walk(code, bitmap));

  get bytes(): number {
    const own = [this.#entries, this.#firstOfRow, this.#firstOfValue, this.#countOfValue];
    return own.reduce((sum, column) => sum + column.byteLength, this.values.bytes + this.#bitmaps.bytes);
  }

  /** Values that once were: they take room until the collection is loaded anew. */
  get wasteful(): boolean {
    return this.values.count > 4 * this.#live + 10_000;
  }

  /** Sets the values of a row that has none. */
  add(row: number, metadata: unknown): void {
    this.#firstOfRow = withRoom(this.#firstOfRow, row + 1);
    this.#size = Math.max(this.#size, row + 1);
    if (typeof metadata !== 'object' || metadata === null) return;
    for (const [key, value] of Object.entries(metadata)) {
      if (!Array.isArray(value) || value.length === 0) this.#link(row, this.values.codeOf(key, value));
      else for (const code of new Set(value.map((element) => this.values.codeOf(key, element)))) this.#link(row, code);
    }
  }

  clear(row: number): void {
    let entry = this.#firstOfRow[row] ?? END;
    while (entry !== END) {
      const next = this.#entries[entry * FIELDS + NEXT_OF_ROW] as number;
      this.#unlink(entry);
      entry = next;
    }
    if (row < this.#firstOfRow.length) this.#firstOfRow[row] = END;
  }

  countOf(code: number): number {
    return this.#countOfValue[code] as number;
  }

  /** The rows that hold a value, when they are kept so: to be read until the next change, rows beyond its end do not. */
  bitmapOf(code: number): Bitmap | undefined {
    return this.#bitmaps.of(code);
  }

  /** Adds the rows that hold a value to a bitmap that has room for all. */
  mark(code: number, bitmap: Bitmap): void {
    const kept = this.#bitmaps.of(code);
    if (kept === undefined) this.#walk(code, bitmap);
    else addBits(bitmap, kept);
  }

  rowHasOneOf(row: number, codes: ReadonlySet<number>): boolean {
    for (let entry = this.#firstOfRow[row] ?? END; entry !== END; ) {
      if (codes.has(this.#entries[entry * FIELDS + CODE] as number)) return true;
      entry = this.#entries[entry * FIELDS + NEXT_OF_ROW] as number;
    }
    return false;
  }

  #walk(code: number, bitmap: Bitmap): void {
    const entries = this.#entries;
    for (let entry = this.#firstOfValue[code] as number; entry !== END; ) {
      setBit(bitmap, entries[entry * FIELDS + ROW] as number);
      entry = entries[entry * FIELDS + NEXT_OF_VALUE] as number;
    }
  }

  #link(row: number, code: number): void {
    this.#firstOfValue = withRoom(this.#firstOfValue, code + 1);
    this.#countOfValue = withRoom(this.#countOfValue, code + 1);
    const entry = this.#take();
    const entries = this.#entries;
    const next = this.#firstOfValue[code] as number;
    entries[entry * FIELDS + ROW] = row;
    entries[entry * FIELDS + CODE] = code;
    entries[entry * FIELDS + NEXT_OF_VALUE] = next;
    entries[entry * FIELDS + PREVIOUS_OF_VALUE] = END;
    entries[entry * FIELDS + NEXT_OF_ROW] = this.#firstOfRow[row] as number;
    if (next !== END) entries[next * FIELDS + PREVIOUS_OF_VALUE] = entry;
    this.#firstOfValue[code] = entry;
    this.#firstOfRow[row] = entry;
    const count = this.countOf(code) + 1;
    this.#countOfValue[code] = count;
    this.#bitmaps.add(code, row, count, this.#size);
    this.#live += 1;
  }

  #unlink(entry: number): void {
    const entries = this.#entries;
    const code = entries[entry * FIELDS + CODE] as number;
    const next = entries[entry * FIELDS + NEXT_OF_VALUE] as number;
    const previous = entries[entry * FIELDS + PREVIOUS_OF_VALUE] as number;
    if (next !== END) entries[next * FIELDS + PREVIOUS_OF_VALUE] = previous;
    if (previous !== END) entries[previous * FIELDS + NEXT_OF_VALUE] = next;
    else this.#firstOfValue[code] = next;
    const count = this.countOf(code) - 1;
    this.#countOfValue[code] = count;
    this.#bitmaps.remove(code, entries[entry * FIELDS + ROW] as number, count);
    entries[entry * FIELDS + NEXT_OF_ROW] = this.#free;
    this.#free = entry;
    this.#live -= 1;
  }

  #take(): number {
    const reused = this.#free;
    if (reused !== END) {
      this.#free = this.#entries[reused * FIELDS + NEXT_OF_ROW] as number;
      return reused;
    }
    this.#entries = withRoom(this.#entries, (this.#used + 1) * FIELDS);
    this.#used += 1;
    return this.#used - 1;
  }
}
