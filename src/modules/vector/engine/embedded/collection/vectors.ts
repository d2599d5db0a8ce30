// Vectors of one collection, in chunks that double in size up to a few MiB, so that growing copies nothing. A chunk holds the small copies of
// its rows contiguously (for the first pass), then the f32 rows.

import { largeStride, quantizeNothing, quantizeRow, smallStride } from '../exact/quantize.ts';
import { SCAN_ROWS_MAX } from '../kernel/kernel.ts';
import type { Arena, ArenaPool, Block } from '../memory/arena.ts';

const CHUNK_BYTES_MAX = 2 ** 22;
const CHUNK_BYTES_MIN = 2 ** 10;

export interface Chunk {
  readonly block: Block;
  readonly arena: Arena;
  /** Row number of its first row. */
  readonly start: number;
  readonly capacity: number;
  /** Byte offsets of the small copies and of the f32 rows. */
  readonly small: number;
  readonly large: number;
}

/** A byte offset in an arena. */
interface Place {
  readonly arena: Arena;
  readonly at: number;
}

export class Vectors {
  readonly dimension: number;
  readonly smallStride: number;
  /** Bytes of an f32 row, padded with zeros. */
  readonly largeStride: number;
  readonly chunks: Chunk[] = [];
  readonly #pool: ArenaPool;
  readonly #cosine: boolean;
  readonly #free: number[] = [];
  #capacity = 0;
  #size = 0;
  #bytes = 0;

  constructor(pool: ArenaPool, dimension: number, cosine: boolean) {
    this.#pool = pool;
    this.#cosine = cosine;
    this.dimension = dimension;
    this.smallStride = smallStride(dimension);
    this.largeStride = largeStride(dimension);
  }

  /** Rows ever used: every row number is below. */
  get size(): number {
    return this.#size;
  }

  get live(): number {
    return this.#size - this.#free.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A row number without a vector. @param rowsExpected how many rows will surely follow; lets the first chunk fit. */
  add(rowsExpected: number): number {
    const reused = this.#free.pop();
    if (reused !== undefined) return reused;
    if (this.#size === this.#capacity) this.#grow(rowsExpected);
    this.#size += 1;
    return this.#size - 1;
  }

  /** @param embedding the row's f32 values, little-endian */
  write(row: number, embedding: Uint8Array): void {
    const { arena, at } = this.largeOf(row);
    arena.uint8.set(embedding, at);
    arena.uint8.fill(0, at + embedding.length, at + this.largeStride);
    quantizeRow(arena, at, this.smallOf(row).at, this.dimension, this.#cosine);
  }

  /** The row's place waits for another. */
  clear(row: number): void {
    const { arena, at } = this.smallOf(row);
    quantizeNothing(arena, at, this.dimension);
    this.#free.push(row);
  }

  chunkOf(row: number): Chunk {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.chunks[middle] as Chunk).start <= row) low = middle;
      else high = middle - 1;
    }
    return this.chunks[low] as Chunk;
  }

  /** Where a row's small copy lies. */
  smallOf(row: number): Place {
    const { arena, start, small } = this.chunkOf(row);
    return { arena, at: small + (row - start) * this.smallStride };
  }

  /** Where a row's f32 values lie. */
  largeOf(row: number): Place {
    const { arena, start, large } = this.chunkOf(row);
    return { arena, at: large + (row - start) * this.largeStride };
  }

  /** The row's f32 values. */
  copyOf(row: number): Float32Array {
    const { arena, at } = this.largeOf(row);
    return arena.float32.slice(at / 4, at / 4 + this.dimension);
  }

  dispose(): void {
    for (const { block } of this.chunks) this.#pool.free(block);
    this.chunks.length = 0;
  }

  #grow(rowsExpected: number): void {
    const rowBytes = this.smallStride + this.largeStride;
    const wanted = Math.max(rowBytes * Math.max(1, rowsExpected), this.#bytes, CHUNK_BYTES_MIN);
    // blocks are powers of two: one that may be filled to the end
    const most = 2 ** Math.floor(Math.log2(Math.min(CHUNK_BYTES_MAX, rowBytes * SCAN_ROWS_MAX)));
    const block = this.#pool.allocate(Math.min(wanted, most));
    const capacity = Math.min(SCAN_ROWS_MAX, Math.floor(block.bytes / rowBytes));
    const small = block.at;
    this.chunks.push({
      block,
      arena: block.arena,
      start: this.#capacity,
      capacity,
      small,
      large: small + capacity * this.smallStride,
    });
    this.#capacity += capacity;
    this.#bytes += block.bytes;
  }
}
