// A collection in memory. Only its worker changes it, between searches.

import { TimeSlices } from '../../../../../lib/time-slices.ts';
import { SLICE_MS } from '../../../limits.ts';
import type { CollectionRef, Search, SearchResult } from '../../port.ts';
import type { StoredItem } from '../../reader.ts';
import { searchExact } from '../exact/exact-search.ts';
import { prepareQuery } from '../exact/quantize.ts';
import { type Bitmap, bitmapFor, clearBit, countBits, hasBit, setBit } from '../filter/bitmap.ts';
import { resolveFilter } from '../filter/filter.ts';
import { Postings } from '../filter/postings.ts';
import { ListIndex } from '../ivf/list-index.ts';
import type { ArenaPool } from '../memory/arena.ts';
import { withRoom } from '../memory/growing.ts';
import { Ids } from './ids.ts';
import { Vectors } from './vectors.ts';

/** Objects of a collection that holds next to nothing: 6 KiB each, measured with 20,000 of them. */
export const FIXED_BYTES = 6144;
const WASTE_ROWS_MIN = 1024;
const ROW_BYTES_OF_LISTS = 20;
const LISTS_SLACK = 1.2;
/** Nobody waits for lists, and a search must not wait long for a slice of their making. */
const BUILD_SLICE_MS = 2;
const BUILD_IDLE_MS = 1;

/** A row as the database has it. */
export class Resident {
  readonly #ref: CollectionRef;
  readonly #vectors: Vectors;
  readonly #ids = new Ids();
  readonly #postings = new Postings();
  #alive: Bitmap = bitmapFor(0);
  readonly #lists: ListIndex;
  #rowsExpected = 0;
  #disposed = false;

  constructor(pool: ArenaPool, ref: CollectionRef) {
    this.#ref = ref;
    this.#vectors = new Vectors(pool, ref.dimension, ref.metric === 'cosine');
    this.#lists = new ListIndex(pool);
  }

  get bytes(): number {
    const parts = [
      this.#vectors.bytes,
      this.#ids.bytes,
      this.#postings.bytes,
      this.#alive.byteLength,
      this.#lists.bytes,
    ];
    return parts.reduce((sum, bytes) => sum + bytes, FIXED_BYTES);
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
    this.#lists.assign(row);
  }

  /** Takes a row out, unless it was written after its deletion. */
  remove(id: string, version: number): void {
    const row = this.#ids.find(id);
    if (row === undefined || this.#ids.versionOf(row) > version) return;
    this.#lists.unassign(row);
    this.#postings.clear(row);
    this.#ids.remove(row);
    this.#vectors.clear(row);
    clearBit(this.#alive, row);
  }

  /** Throws Undecided when what is in memory does not decide the filter. */
  async search({ vector, topK, filter, exact }: Search): Promise<SearchResult> {
    const { metric } = this.#ref;
    const narrowed = filter !== null && filter.length > 0;
    const passed = narrowed ? resolveFilter(filter, this.#postings, this.#alive, this.#vectors.size) : null;
    const rows = passed === null ? this.#vectors.live : countBits(passed);
    const query = prepareQuery(vector, metric === 'cosine');
    const search = {
      vectors: this.#vectors,
      ids: this.#ids,
      metric,
      query,
      topK,
      passed,
      rows,
    };
    const slices = new TimeSlices(SLICE_MS);
    const near = exact || narrowed ? undefined : await this.#lists.search(search, slices);
    return near ?? searchExact(search, slices);
  }

  /** Bytes that lists will take if they are to be built; undefined when they are not, or not now. */
  listsDue(fromBytes: number): number | undefined {
    const { live, smallStride } = this.#vectors;
    if (live * smallStride < fromBytes || !this.#lists.isDue(live)) return undefined;
    return live * (smallStride + ROW_BYTES_OF_LISTS) * LISTS_SLACK;
  }

  /**
   * Builds lists in slices between which the collection may change. True when they answer from now on.
   * @param alone runs what must not meet a change
   */
  buildLists(alone: <T>(work: () => Promise<T>) => Promise<T>): Promise<boolean> {
    const { metric } = this.#ref;
    const vectors = this.#vectors;
    const neighbours = (row: number, topK: number) =>
      alone(async () => {
        if (this.#disposed) return undefined;
        const { matches } = await this.search({ vector: vectors.copyOf(row), topK, filter: null, exact: true });
        return matches.map(({ id }) => this.#ids.find(id)).filter((found) => found !== undefined);
      });
    const rows = {
      live: vectors.live,
      get size() {
        return vectors.size;
      },
      isAlive: (row: number) => hasBit(this.#alive, row),
      neighbours,
    };
    return this.#lists.build({ vectors, metric }, rows, new TimeSlices(BUILD_SLICE_MS, BUILD_IDLE_MS));
  }

  /** Compares an approximate answer with the exact one to the same search, on the same state. */
  async checkRecall(search: Search, { matches }: SearchResult): Promise<void> {
    const exact = await this.search({ ...search, exact: true });
    const found = new Set(matches.map(({ id }) => id));
    const missed = exact.matches.filter(({ id }) => !found.has(id)).length;
    this.#lists.learn(search.topK, 1 - missed / Math.max(1, exact.matches.length));
  }

  dispose(): void {
    this.#disposed = true;
    this.#lists.dispose();
    this.#vectors.dispose();
  }
}
