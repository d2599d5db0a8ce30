// Exact search. A first pass over small copies gives proven bounds; then rows are scored in f64 over the stored f32 values. Scoring goes from
// the highest upper bound down, until no further row can be among the best.

import type { TimeSlices } from '../../../../../lib/time-slices.ts';
import { Best } from '../../best.ts';
import type { Metric, SearchResult } from '../../port.ts';
import type { Ids } from '../collection/ids.ts';
import type { Vectors } from '../collection/vectors.ts';
import { listBits } from '../filter/bitmap.ts';
import { QUERY_F64_AT } from '../kernel/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import { Candidates } from './candidates.ts';
import type { PreparedQuery } from './quantize.ts';
import { scanPart, type Walk, walks } from './scan.ts';

/** Up to so many rows (or as many as are asked for) the first pass is not worth its while. */
const DIRECT_ROWS_MAX = 64;
/**
 * A filter that more than this share of the rows pass: looking at a row costs less than the processor's guessing wrong which are
 * left out. At 100,000 x 768, beyond its caches, all of them take 4.4 ms, the others being read through 6.0 ms when 75 % pass and
 * as much as all when 50 % do; at 20,000 x 256, within its caches, 0.27 against 0.28 and 0.17 to 0.22 ms.
 */
const ALL_SHARE = 0.6;
/**
 * A filter that less than this share pass: the rows between are leapt over. At 100,000 x 768 a row that is leapt to costs 250 to
 * 400 ns, since the processor fetches ahead no more, and 42 ns in sequence: 11 ms when 50 % pass, 5.6 when 15 % do.
 */
const THROUGH_SHARE = 0.15;
const RESCORE_SLICE = 256;

interface ScoreContext {
  readonly vectors: Vectors;
  readonly metric: Metric;
  readonly query: PreparedQuery;
}

export interface ExactSearch extends ScoreContext {
  readonly ids: Ids;
  readonly topK: number;
  /** The rows that may match, and how many they are; null: all. */
  readonly passed: Uint32Array | null;
  readonly rows: number;
}

/** @param slices lets others in between; the collection must stay as it is meanwhile. */
export async function searchExact(search: ExactSearch, slices: TimeSlices): Promise<SearchResult> {
  const { vectors, ids, topK, passed, rows } = search;
  const candidates = new Candidates(topK);
  const walk = walkOf(passed === null ? 1 : rows / vectors.size);
  if (passed !== null && rows <= Math.max(topK, DIRECT_ROWS_MAX)) offerAll(passed, rows, candidates);
  else await scan(search, walk, candidates, slices);
  const best = new Best(topK, (row) => ids.idOf(row));
  await rescore(search, candidates, best, slices);
  const matches = best.matches((row) => ids.versionOf(row));
  const rowsScanned = walk === walks.all ? vectors.live : rows;
  return { matches, plan: 'exact', rowsMatched: rows, rowsScanned, exact: true };
}

function walkOf(share: number): Walk {
  if (share > ALL_SHARE) return walks.all;
  return share > THROUGH_SHARE ? walks.through : walks.leaping;
}

function offerAll(passed: Uint32Array, rows: number, candidates: Candidates): void {
  const list = new Uint32Array(rows);
  listBits(passed, 0, passed.length * 32, list, 0);
  for (const row of list) candidates.offer(row, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
}

/** The first pass. */
async function scan(
  { vectors, query, metric, passed }: ExactSearch,
  walk: Walk,
  candidates: Candidates,
  slices: TimeSlices,
): Promise<void> {
  const how = { stride: vectors.smallStride, query, isEuclidean: metric === 'euclidean', passed, walk };
  for (const { arena, small, start, capacity } of vectors.chunks) {
    if (start >= vectors.size) return;
    scanPart({ arena, small, start, count: Math.min(capacity, vectors.size - start) }, how, candidates);
    if (slices.isOver) await slices.next();
  }
}

/** Offers the candidates' scores, as many as it takes. */
export async function rescore(
  search: ScoreContext,
  candidates: Candidates,
  best: Best,
  slices: TimeSlices,
): Promise<void> {
  const { rows, uppers } = candidates.rowsByBound();
  const scorer = new Scorer(search);
  for (let i = 0; i < rows.length; i += 1) {
    // A bound speaks of the order's key; equal scores go by id, so only a lesser bound ends it.
    if ((uppers[i] as number) + scorer.tolerance < scorer.keyOf(best.least)) return;
    const row = rows[i] as number;
    best.offer(row, scorer.score(row));
    if (i % RESCORE_SLICE === RESCORE_SLICE - 1 && slices.isOver) {
      await slices.next();
      scorer.forgetArena();
    }
  }
}

class Scorer {
  readonly #search: ScoreContext;
  readonly #queryNorm: number;
  #arena: Arena | undefined;
  /** What rounding may add to a score beyond its bound: sums of squares lose against the query's own. */
  readonly tolerance: number;

  constructor(search: ScoreContext) {
    this.#search = search;
    this.#queryNorm = Math.sqrt(search.query.squares);
    this.tolerance = search.metric === 'euclidean' ? search.query.squares * 1e-11 : 0;
  }

  /** The first pass bounds the score itself, or the squared query norm less the squared distance. */
  keyOf(score: number): number {
    return this.#search.metric === 'euclidean' ? this.#search.query.squares - score * score : score;
  }

  /** Others may have used the arena's first block. */
  forgetArena(): void {
    this.#arena = undefined;
  }

  score(row: number): number {
    const { vectors, metric, query } = this.#search;
    const { arena, at } = vectors.largeOf(row);
    if (this.#arena !== arena) {
      arena.float64.set(query.float64, QUERY_F64_AT / 8);
      this.#arena = arena;
    }
    const { kernel } = arena;
    if (metric === 'euclidean') return -Math.sqrt(kernel.squaredDistance(at, QUERY_F64_AT, vectors.largeStride));
    const product = kernel.dot(at, QUERY_F64_AT, vectors.largeStride);
    if (metric === 'dotproduct') return product;
    const norm = Math.sqrt(kernel.squaredNorm(at, vectors.largeStride)) * this.#queryNorm;
    return norm === 0 ? 0 : Math.max(-1, Math.min(1, product / norm));
  }
}
