// Ids of a collection's rows, in both directions, and each row's version: about 20 bytes a row in addition to the ids.
import { hashBytes, withRoom } from '../memory/growing.ts';
import { Slots } from '../memory/slots.ts';

const LENGTH_BYTES = 2;
const ID_BYTES_MAX = 1024;
const scratch = Buffer.alloc(ID_BYTES_MAX);

export class Ids {
  #heap = new Uint8Array(64);
  #used = 0;
  #garbage = 0;
  /** Where a row's id lies in the heap: its length in bytes, then its UTF-8. */
  #at = new Uint32Array(0);
  #versions = new Float64Array(0);
  readonly #seed = (Math.random() * 2 ** 32) >>> 0;
  readonly #slots = new Slots((row) => this.#hashOfRow(row));

  get bytes(): number {
    return this.#heap.byteLength + this.#at.byteLength + this.#versions.byteLength + this.#slots.bytes;
  }

  reserve(rows: number): void {
    this.#at = withRoom(this.#at, rows);
    this.#versions = withRoom(this.#versions, rows);
    this.#slots.reserve(rows);
  }

  find(id: string): number | undefined {
    const length = scratch.write(id);
    return this.#slots.find(hashBytes(scratch, 0, length, this.#seed), (row) => this.#isAt(row, length));
  }

  add(id: string, row: number): void {
    const length = scratch.write(id);
    this.#heap = withRoom(this.#heap, this.#used + LENGTH_BYTES + length);
    this.#at = withRoom(this.#at, row + 1);
    this.#versions = withRoom(this.#versions, row + 1);
    this.#at[row] = this.#used;
    this.#heap[this.#used] = length & 0xff;
    this.#heap[this.#used + 1] = length >> 8;
    this.#heap.set(scratch.subarray(0, length), this.#used + LENGTH_BYTES);
    this.#used += LENGTH_BYTES + length;
    this.#slots.add(hashBytes(scratch, 0, length, this.#seed), row);
  }

  remove(row: number): void {
    this.#slots.remove(this.#hashOfRow(row), row);
    this.#garbage += LENGTH_BYTES + this.#lengthOf(row);
  }

  idOf(row: number): string {
    const at = (this.#at[row] as number) + LENGTH_BYTES;
    return Buffer.from(this.#heap.buffer, at, this.#lengthOf(row)).toString();
  }

  versionOf(row: number): number {
    return this.#versions[row] as number;
  }

  setVersion(row: number, version: number): void {
    this.#versions[row] = version;
  }

  /** Bytes that no row needs any more. */
  get garbage(): number {
    return this.#garbage;
  }

  #lengthOf(row: number): number {
    const at = this.#at[row] as number;
    return (this.#heap[at] as number) + ((this.#heap[at + 1] as number) << 8);
  }

  #isAt(row: number, length: number): boolean {
    if (this.#lengthOf(row) !== length) return false;
    const at = (this.#at[row] as number) + LENGTH_BYTES;
    for (let i = 0; i < length; i += 1) if (this.#heap[at + i] !== scratch[i]) return false;
    return true;
  }

  #hashOfRow(row: number): number {
    const at = (this.#at[row] as number) + LENGTH_BYTES;
    return hashBytes(this.#heap, at, at + this.#lengthOf(row), this.#seed);
  }
}
