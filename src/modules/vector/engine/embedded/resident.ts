// One collection in memory. Its worker alone changes it, between searches.
import type { CollectionRef, Search, SearchResult } from '../port.ts';
import type { ArenaPool } from './arena.ts';
import { type Bitmap, bitmapFor, clearBit, countBits, setBit } from './bitmap.ts';
import { searchExact } from './exact-search.ts';
import { resolveFilter } from './filter.ts';
import { withRoom } from './growing.ts';
import { Ids } from './ids.ts';
import { Pace } from './pace.ts';
import { Postings } from './postings.ts';
import { prepareQuery } from './quantize.ts';
import { Vectors } from './vectors.ts';

/** Objects of a collection that holds next to nothing, measured with 20,000 of them. */
export const FIXED_BYTES = 4096;
const WASTE_ROWS_MIN = 1024;

/** A row as the database has it. */
export interface StoredItem {
  readonly id: string;
  readonly version: number;
  readonly embedding: Uint8Array;
  readonly metadata: unknown;
}

export class Resident {
  readonly #ref: CollectionRef;
  readonly #vectors: Vectors;
  readonly #ids = new Ids();
  readonly #postings = new Postings();
  #alive: Bitmap = bitmapFor(0);
  #rowsExpected = 0;

  constructor(pool: ArenaPool, ref: CollectionRef) {
    this.#ref = ref;
    this.#vectors = new Vectors(pool, ref.dimension, ref.metric === 'cosine');
  }

  get bytes(): number {
    return FIXED_BYTES + this.#vectors.bytes + this.#ids.bytes + this.#postings.bytes + this.#alive.byteLength;
  }

  get rows(): number {
    return this.#vectors.live;
  }

  /** More of it belongs to rows that are gone than a load anew would cost. */
  get wasteful(): boolean {
    const { size, live } = this.#vectors;
    return size > 2 * live + WASTE_ROWS_MIN || this.#ids.garbage > size * 64 + 65_536 || this.#postings.wasteful;
  }

  expect(rows: number): void {
    this.#rowsExpected = rows;
    this.#ids.reserve(rows);
  }

  upsert({ id, version, embedding, metadata }: StoredItem): void {
    if (embedding.length !== this.#ref.dimension * 4)
      throw new Error(`a vector of ${embedding.length} bytes in a collection of dimension ${this.#ref.dimension}`);
    let row = this.#ids.find(id);
    if (row === undefined) {
      row = this.#vectors.add(this.#rowsExpected - this.#vectors.size);
      this.#ids.add(id, row);
      this.#alive = withRoom(this.#alive, (row >>> 5) + 1);
      setBit(this.#alive, row);
    } else this.#postings.clear(row);
    this.#vectors.write(row, embedding);
    this.#ids.setVersion(row, version);
    this.#postings.add(row, metadata);
  }

  /** Takes a row out, unless it was written after its deletion. */
  remove(id: string, version: number): void {
    const row = this.#ids.find(id);
    if (row === undefined || this.#ids.versionOf(row) > version) return;
    this.#postings.clear(row);
    this.#ids.remove(row);
    this.#vectors.clear(row);
    clearBit(this.#alive, row);
  }

  /** Throws Undecided when what is in memory does not decide the filter. */
  async search({ vector, topK, filter }: Search): Promise<SearchResult> {
    const { metric } = this.#ref;
    const narrowed = filter !== null && filter.length > 0;
    const passed = narrowed ? resolveFilter(filter, this.#postings, this.#alive, this.#vectors.size) : null;
    const rows = passed === null ? this.#vectors.live : countBits(passed);
    const query = prepareQuery(vector, metric === 'cosine');
    return searchExact({ vectors: this.#vectors, ids: this.#ids, metric, query, topK, passed, rows }, new Pace());
  }

  dispose(): void {
    this.#vectors.dispose();
  }
}
