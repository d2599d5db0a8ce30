// Approximate search on a collection's graph. The filter is applied to rows as they come, nearest first, up to a bound of rows seen. Beyond that
// bound, or when pgvector itself ends an iterative scan, rows no longer come nearest first. Rows found are scored exactly; that they are the
// best is not certain.
import type { Queryable } from '../../../../db/database.ts';
import { type Statement, statement } from '../../../../db/statement.ts';
import type { CollectionRef, Metric, Search, SearchResult } from '../port.ts';
import { compareMatches, queryOf } from '../score.ts';
import { type Candidate, matchesOf, sentVector, withSpare } from './exact-search.ts';
import { isPassing, passingParameters } from './passing.ts';

const EF_SEARCH_MIN = 200;
/** The largest that pgvector takes. */
const EF_SEARCH_MAX = 1_000;
/** How many more rows a scan may need than if the filter had nothing to do with nearness. */
const CORRELATION_MARGIN = 2;

const operators: Readonly<Record<Metric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

// The cut-offs of pgvector are put far above the bound of rows seen: what an iterative scan returns after one is in no order.
const scanOn = statement(
  'vector_pg_iterative_scan',
  `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true),
          set_config('hnsw.max_scan_tuples', '200000', true), set_config('hnsw.scan_mem_multiplier', '16', true)`,
);
const countPassing = statement(
  'vector_pg_count',
  `SELECT count(*) AS passing FROM vector_index.embedding i WHERE ${isPassing}`,
);

/** Rows that pass, of a filter that has conditions. */
export async function countMatching(tx: Queryable, ref: CollectionRef, filter: Search['filter']): Promise<number> {
  const { rows } = await tx.query<{ passing: bigint }>(countPassing, passingParameters(ref, filter));
  return Number(rows[0]?.passing ?? 0n);
}

export interface Extent {
  /** Of the collection. */
  readonly rows: number;
  readonly rowsMatched: number;
  /** Rows that a scan may see. */
  readonly seenMax: number;
}

/** Whether a scan is likely to find enough rows that pass before it has seen too many. */
export function isWorthScanning({ topK }: Search, { rows, rowsMatched, seenMax }: Extent): boolean {
  return CORRELATION_MARGIN * withSpare(topK) * rows <= seenMax * rowsMatched;
}

/** Null when too few of the rows seen passed. On a transaction that sees one state. */
export async function searchGraph(
  tx: Queryable,
  ref: CollectionRef,
  { vector, topK, filter }: Search,
  { rowsMatched, seenMax }: Extent,
): Promise<SearchResult | null> {
  const limit = withSpare(topK);
  await tx.query(scanOn, [String(Math.min(EF_SEARCH_MAX, Math.max(EF_SEARCH_MIN, 2 * limit)))]);
  const values = [...passingParameters(ref, filter), sentVector(vector), limit, seenMax];
  const { rows } = await tx.query<Candidate>(nearestOf(ref), values);
  if (rows.length < Math.min(limit, rowsMatched)) return null;
  const matches = matchesOf(ref, queryOf(vector), rows).sort(compareMatches).slice(0, topK);
  return { matches, plan: 'ivf', rowsMatched, rowsScanned: rows.length, exact: false };
}

// Without a name, so that it is planned for these very values: a plan for any collection cannot use the graph of one. The dimension
// stands in the text, as in the index.
function nearestOf({ metric, dimension }: CollectionRef): Statement {
  const type = `vector(${Number(dimension)})`;
  return {
    name: '',
    text: `SELECT i.id, i.version, vector_send(i.embedding) AS embedding
             FROM (SELECT s.* FROM vector_index.embedding s
                    WHERE s.account_id = $4 AND s.collection_id = $5
                    ORDER BY s.embedding::${type} ${operators[metric]} $8::${type} LIMIT $10) i
            WHERE ${isPassing} LIMIT $9`,
  };
}
