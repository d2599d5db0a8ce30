// Exact search: a first pass over small copies with proven bounds, then the sums in f64 over the stored f32 values, from the
// highest upper bound down until no further row can be among the best.
import type { Metric, SearchResult } from '../port.ts';
import type { Arena } from './arena.ts';
import { Best } from './best.ts';
import { type Bitmap, listBits } from './bitmap.ts';
import { Candidates } from './candidates.ts';
import type { Ids } from './ids.ts';
import { CANDIDATE_BYTES, CANDIDATES_AT, LIST_AT, QUERY_F64_AT, QUERY_INT16_AT } from './kernel/kernel.ts';
import type { Pace } from './pace.ts';
import type { PreparedQuery } from './quantize.ts';
import type { Chunk, Vectors } from './vectors.ts';

/** Up to so many rows (or as many as are asked for) the first pass is not worth its while. */
const DIRECT_ROWS_MAX = 64;
const RESCORE_SLICE = 256;

export interface ExactSearch {
  readonly vectors: Vectors;
  readonly ids: Ids;
  readonly metric: Metric;
  readonly query: PreparedQuery;
  readonly topK: number;
  /** The rows that may match, and how many they are; null: all. */
  readonly passed: Bitmap | null;
  readonly rows: number;
}

/** @param pace lets others in between; the collection must stay as it is meanwhile. */
export async function searchExact(search: ExactSearch, pace: Pace): Promise<SearchResult> {
  const { vectors, ids, topK, passed, rows } = search;
  const candidates = new Candidates(topK);
  const direct = passed !== null && rows <= Math.max(topK, DIRECT_ROWS_MAX);
  for (const chunk of vectors.chunks) {
    if (chunk.start >= vectors.size) break;
    if (direct) offerAll(chunk, search, candidates);
    else scanChunk(chunk, search, candidates);
    if (pace.due) await pace.rest();
  }
  const best = new Best(topK, (row) => ids.idOf(row));
  await rescore(search, candidates, best, pace);
  const matches = best.matches((row) => ids.versionOf(row));
  return { matches, plan: 'exact', rowsMatched: rows, rowsScanned: rows, exact: true };
}

function listRows(chunk: Chunk, { vectors, passed }: ExactSearch, target: Uint32Array, at: number): number {
  const end = Math.min(chunk.start + chunk.capacity, vectors.size);
  return passed === null ? end - chunk.start : listBits(passed, chunk.start, end, target, at);
}

function offerAll(chunk: Chunk, search: ExactSearch, candidates: Candidates): void {
  const list = new Uint32Array(chunk.capacity);
  const count = listRows(chunk, search, list, 0);
  for (let i = 0; i < count; i += 1)
    candidates.offer(chunk.start + (list[i] as number), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
}

function scanChunk(chunk: Chunk, search: ExactSearch, candidates: Candidates): void {
  const { arena } = chunk;
  const { vectors, query, metric, passed } = search;
  const count = listRows(chunk, search, arena.uint32, LIST_AT / 4);
  if (count === 0) return;
  arena.int16.set(query.int16, QUERY_INT16_AT / 2);
  const found = arena.kernel.scan(
    chunk.small,
    vectors.smallStride,
    passed === null ? 0 : LIST_AT,
    count,
    QUERY_INT16_AT,
    query.scale,
    query.norm,
    query.slack,
    metric === 'euclidean' ? 1 : 0,
    candidates.threshold,
    CANDIDATES_AT,
  );
  const { uint32, float64 } = arena;
  for (let i = 0, at = CANDIDATES_AT; i < found; i += 1, at += CANDIDATE_BYTES) {
    const upper = float64[at / 8 + 1] as number;
    candidates.offer(chunk.start + (uint32[at / 4] as number), upper, float64[at / 8 + 2] as number);
  }
}

async function rescore(search: ExactSearch, candidates: Candidates, best: Best, pace: Pace): Promise<void> {
  const { rows, uppers } = candidates.sorted();
  const scorer = new Scorer(search);
  for (let i = 0; i < rows.length; i += 1) {
    // A bound speaks of the order's key; equal scores go by id, so only a lesser bound ends it.
    if ((uppers[i] as number) + scorer.tolerance < scorer.keyOf(best.least)) return;
    const row = rows[i] as number;
    best.offer(row, scorer.score(row));
    if (i % RESCORE_SLICE === RESCORE_SLICE - 1 && pace.due) {
      await pace.rest();
      scorer.forgetArena();
    }
  }
}

class Scorer {
  readonly #search: ExactSearch;
  readonly #queryNorm: number;
  #arena: Arena | undefined;
  /** What rounding may add to a score beyond its bound: sums of squares lose against the query's own. */
  readonly tolerance: number;

  constructor(search: ExactSearch) {
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
    const chunk = vectors.chunkOf(row);
    const { arena } = chunk;
    if (this.#arena !== arena) {
      arena.float64.set(query.float64, QUERY_F64_AT / 8);
      this.#arena = arena;
    }
    const at = vectors.largeAt(chunk, row);
    const { kernel } = arena;
    if (metric === 'euclidean') return -Math.sqrt(kernel.squaredDistance(at, QUERY_F64_AT, vectors.largeStride));
    const product = kernel.dot(at, QUERY_F64_AT, vectors.largeStride);
    if (metric === 'dotproduct') return product;
    const norm = Math.sqrt(kernel.squaredNorm(at, vectors.largeStride)) * this.#queryNorm;
    return norm === 0 ? 0 : Math.max(-1, Math.min(1, product / norm));
  }
}
