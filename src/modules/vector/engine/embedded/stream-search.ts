// Search without keeping anything: every row is read from the database, on one snapshot. For collections that the budget does
// not hold, and for filters that only the rows themselves decide.
import type { Database } from '../../../../db/database.ts';
import { CollectionGone, type CollectionRef, type Metric, type Search, type SearchResult } from '../port.ts';
import { Best } from './best.ts';
import { Pace } from './pace.ts';
import { passes } from './passes.ts';
import { itemsPerPage, placeAfter, readCollection, readItems, readSnapshot } from './reader.ts';
import type { StoredItem } from './resident.ts';

/** Throws CollectionGone. */
export function searchStream(db: Database, ref: CollectionRef, searches: readonly Search[]): Promise<SearchResult[]> {
  return readSnapshot(db, async (tx) => {
    if ((await readCollection(tx, ref)) === undefined) throw new CollectionGone();
    const runs = searches.map((search) => new Run(ref.metric, search));
    const pace = new Pace();
    let after = placeAfter(-1);
    for (;;) {
      const page = await readItems(tx, ref, after, Number.MAX_SAFE_INTEGER);
      for (const item of page) {
        const vector = new Float32Array(ref.dimension);
        new Uint8Array(vector.buffer).set(item.embedding);
        for (const run of runs) run.offer(item, vector);
        if (pace.due) await pace.rest();
      }
      const last = page.at(-1);
      if (last === undefined || page.length < itemsPerPage(ref.dimension)) return runs.map((run) => run.result());
      after = last;
    }
  });
}

class Run {
  readonly #metric: Metric;
  readonly #search: Search;
  readonly #best: Best;
  /** What may still be among the best, by its number. */
  #kept = new Map<number, { readonly id: string; readonly version: number }>();
  #matched = 0;

  constructor(metric: Metric, search: Search) {
    this.#metric = metric;
    this.#search = search;
    this.#best = new Best(search.topK, (row) => this.#keptRow(row).id);
  }

  offer({ id, version, metadata }: StoredItem, vector: Float32Array): void {
    if (!passes(this.#search.filter, metadata)) return;
    this.#matched += 1;
    const score = scoreOf(this.#metric, vector, this.#search.vector);
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

function scoreOf(metric: Metric, row: Float32Array, query: Float32Array): number {
  let product = 0;
  let squares = 0;
  let querySquares = 0;
  for (let i = 0; i < row.length; i += 1) {
    const x = row[i] as number;
    const q = query[i] as number;
    if (metric === 'euclidean') squares += (x - q) * (x - q);
    else {
      product += x * q;
      squares += x * x;
      querySquares += q * q;
    }
  }
  if (metric === 'euclidean') return -Math.sqrt(squares);
  if (metric === 'dotproduct') return product;
  const norms = Math.sqrt(squares) * Math.sqrt(querySquares);
  return norms === 0 ? 0 : Math.max(-1, Math.min(1, product / norms));
}
