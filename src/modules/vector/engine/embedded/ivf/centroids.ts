// Centroids of a collection's lists, from k-means over a sample of its rows (Lloyd's iterations; spherical under cosine). The first pass's
// kernel finds the nearest centroid: its rounding moves a row to a neighbouring list at worst.

import type { TimeSlices } from '../../../../../lib/time-slices.ts';
import type { Metric } from '../../port.ts';
import { Vectors } from '../collection/vectors.ts';
import { type PreparedQuery, ROW_HEADER_BYTES } from '../exact/quantize.ts';
import { CANDIDATE_BYTES, CANDIDATES_AT, QUERY_INT16_AT, SCAN_ROWS_MAX } from '../kernel/kernel.ts';
import type { ArenaPool } from '../memory/arena.ts';

const ITERATIONS = 6;

type SmallQuery = Pick<PreparedQuery, 'scale' | 'norm' | 'slack'> & { readonly int16: Int16Array | Int8Array };

export class Centroids {
  readonly #vectors: Vectors;
  readonly #metric: Metric;

  constructor(pool: ArenaPool, dimension: number, metric: Metric) {
    this.#vectors = new Vectors(pool, dimension, metric === 'cosine');
    this.#metric = metric;
  }

  get count(): number {
    return this.#vectors.size;
  }

  get bytes(): number {
    return this.#vectors.bytes;
  }

  set(list: number, middle: Float32Array): void {
    while (this.#vectors.size <= list) this.#vectors.add(SCAN_ROWS_MAX);
    this.#vectors.write(list, new Uint8Array(middle.buffer, middle.byteOffset, middle.byteLength));
  }

  /**
   * The list a row belongs to: by angle under cosine, else by distance, also where the product ranks.
   * The row's own small form is the query: nothing is made for it, as a million of them are asked for.
   */
  nearest(rows: Vectors, row: number): number {
    const { arena, at } = rows.smallOf(row);
    const values = arena.int8.subarray(at + ROW_HEADER_BYTES, at + rows.smallStride);
    const scale = arena.float32[at / 4] as number;
    let best = 0;
    let highest = Number.NEGATIVE_INFINITY;
    this.#score({ int16: values, scale, norm: 0, slack: 0 }, this.#metric !== 'cosine', (list, score) => {
      if (score <= highest) return;
      highest = score;
      best = list;
    });
    return best;
  }

  /** Every list, the likeliest to hold the best rows first. */
  rankLists(query: PreparedQuery): Uint32Array {
    const scores = new Float64Array(this.count);
    this.#score(query, this.#metric === 'euclidean', (list, score) => {
      scores[list] = score;
    });
    const order = new Uint32Array(this.count).map((_, list) => list);
    return order.sort((a, b) => (scores[b] as number) - (scores[a] as number));
  }

  dispose(): void {
    this.#vectors.dispose();
  }

  #score(query: SmallQuery, squared: boolean, take: (list: number, score: number) => void): void {
    const { int16, scale, norm, slack } = query;
    const mode = squared ? 1 : 0;
    const stride = this.#vectors.smallStride;
    for (const { arena, start, capacity, small } of this.#vectors.chunks) {
      const count = Math.min(capacity, this.count - start);
      if (count <= 0) return;
      arena.int16.set(int16, QUERY_INT16_AT / 2);
      const { kernel, uint32, float64 } = arena;
      const least = -Number.MAX_VALUE;
      const found = kernel.scan(
        small,
        stride,
        0,
        0,
        count,
        QUERY_INT16_AT,
        scale,
        norm,
        slack,
        mode,
        least,
        CANDIDATES_AT,
      );
      for (let i = 0, at = CANDIDATES_AT; i < found; i += 1, at += CANDIDATE_BYTES) {
        const middle = ((float64[at / 8 + 1] as number) + (float64[at / 8 + 2] as number)) / 2;
        take(start + (uint32[at / 4] as number), Number.isNaN(middle) ? Number.NEGATIVE_INFINITY : middle);
      }
    }
  }
}

interface Training {
  readonly pool: ArenaPool;
  readonly vectors: Vectors;
  readonly metric: Metric;
  /** Numbers of the rows it learns from, in any order; at least as many as there shall be lists. */
  readonly sample: Uint32Array;
  readonly lists: number;
  /** Asked after each pause. */
  readonly isStopped: () => boolean;
}

/** Undefined when it was stopped. */
export async function trainCentroids(training: Training, slices: TimeSlices): Promise<Centroids | undefined> {
  const { pool, vectors, metric, sample, lists, isStopped } = training;
  const { dimension } = vectors;
  const centroids = new Centroids(pool, dimension, metric);
  for (let list = 0; list < lists; list += 1) centroids.set(list, vectors.copyOf(sample[list] as number));
  for (let iteration = 0; iteration < ITERATIONS; iteration += 1) {
    const sums = new Sums(lists, vectors, metric === 'cosine');
    for (const row of sample) {
      sums.add(centroids.nearest(vectors, row), row);
      if (slices.isOver) await slices.next();
      if (isStopped()) return giveUp(centroids);
    }
    for (let list = 0; list < lists; list += 1) {
      // a list that no row chose starts anew at one of them
      const lost = sample[Math.floor(Math.random() * sample.length)] as number;
      centroids.set(list, sums.middleOf(list) ?? vectors.copyOf(lost));
      if (slices.isOver) await slices.next();
      if (isStopped()) return giveUp(centroids);
    }
  }
  return centroids;
}

function giveUp(centroids: Centroids): undefined {
  centroids.dispose();
}

class Sums {
  readonly #vectors: Vectors;
  readonly #cosine: boolean;
  readonly #sums: Float64Array;
  readonly #counts: Uint32Array;

  constructor(lists: number, vectors: Vectors, cosine: boolean) {
    this.#vectors = vectors;
    this.#cosine = cosine;
    this.#sums = new Float64Array(lists * vectors.dimension);
    this.#counts = new Uint32Array(lists);
  }

  add(list: number, row: number): void {
    const { dimension, largeStride } = this.#vectors;
    const { arena, at } = this.#vectors.largeOf(row);
    const squares = this.#cosine ? arena.kernel.squaredNorm(at, largeStride) : 0;
    const factor = squares > 0 ? 1 / Math.sqrt(squares) : 1;
    const values = arena.float32;
    const sums = this.#sums;
    const to = list * dimension;
    const from = at / 4;
    for (let i = 0; i < dimension; i += 1)
      sums[to + i] = (sums[to + i] as number) + (values[from + i] as number) * factor;
    this.#counts[list] = (this.#counts[list] as number) + 1;
  }

  middleOf(list: number): Float32Array | undefined {
    const { dimension } = this.#vectors;
    const count = this.#counts[list] as number;
    if (count === 0) return undefined;
    const middle = new Float32Array(dimension);
    for (let i = 0; i < dimension; i += 1) middle[i] = (this.#sums[list * dimension + i] as number) / count;
    return middle;
  }
}
