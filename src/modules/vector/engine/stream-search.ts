// Search without an index: every row is read from the database, on one snapshot. For collections beyond the budget, for filters that only the
// rows themselves decide, and for rows that changed after an answer.
import type { Database, Queryable } from '../../../db/database.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import { SLICE_MS } from '../limits.ts';
import { Best } from './best.ts';
import { passes } from './passes.ts';
import { CollectionGone, type CollectionRef, type Metric, type Search, type SearchResult } from './port.ts';
import { changesAfter, type Page, readCollection, readItems, readSnapshot, type StoredItem } from './reader.ts';
import { type Query, queryOf, scoreOf } from './score.ts';

/** Throws CollectionGone. */
export function searchStream(db: Database, ref: CollectionRef, searches: readonly Search[]): Promise<SearchResult[]> {
  return readSnapshot(db, (tx) => searchChanged(tx, ref, searches, -1));
}

/** Exact answers from the rows that changed after a version alone. On one snapshot. Throws CollectionGone. */
export async function searchChanged(
  tx: Queryable,
  ref: CollectionRef,
  searches: readonly Search[],
  afterVersion: number,
): Promise<SearchResult[]> {
  if ((await readCollection(tx, ref)) === undefined) throw new CollectionGone();
  const runs = searches.map((search) => new Run(ref.metric, search));
  const slices = new TimeSlices(SLICE_MS);
  for (let start: Page['next'] = changesAfter(afterVersion); start !== null; ) {
    const page: Page = await readItems(tx, ref, start, Number.MAX_SAFE_INTEGER);
    for (const item of page.items) {
      const vector = new Float32Array(ref.dimension);
      new Uint8Array(vector.buffer).set(item.embedding);
      for (const run of runs) run.offer(item, vector);
      if (slices.isOver) await slices.next();
    }
    start = page.next;
  }
  return runs.map((run) => run.result());
}

class Run {
  readonly #metric: Metric;
  readonly #search: Search;
  readonly #query: Query;
  readonly #best: Best;
  /** What may still be among the best, by its number. */
  #kept = new Map<number, { readonly id: string; readonly version: number }>();
  #matched = 0;

  constructor(metric: Metric, search: Search) {
    this.#metric = metric;
    this.#search = search;
    this.#query = queryOf(search.vector);
    this.#best = new Best(search.topK, (row) => this.#keptRow(row).id);
  }

  offer({ id, version, metadata }: StoredItem, vector: Float32Array): void {
    if (!passes(this.#search.filter, metadata)) return;
    this.#matched += 1;
    const score = scoreOf(this.#metric, this.#query, vector);
    if (score < this.#best.least) return;
    this.#kept.set(this.#matched, { id, version });
    this.#best.offer(this.#matched, score);
    if (this.#kept.size > 2 * this.#search.topK + 1000)
      this.#kept = new Map(this.#best.rows().map((row) => [row, this.#keptRow(row)]));
  }

  result(): SearchResult {
    const matches = this.#best.matches((row) => this.#keptRow(row).version);
    return { matches, plan: 'exact', rowsMatched: this.#matched, rowsScanned: this.#matched, exact: true };
  }

  #keptRow(row: number): { readonly id: string; readonly version: number } {
    const kept = this.#kept.get(row);
    if (kept === undefined) throw new Error('a row among the best is not kept');
    return kept;
  }
}
