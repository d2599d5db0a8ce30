// Approximate answers from a collection's graph: an iterative scan, which goes on until enough rows passed the filter. What it
// finds is scored exactly; that it finds the best is not certain.
import type { Queryable } from '../../../../db/database.ts';
import { type Statement, statement } from '../../../../db/statement.ts';
import { filterParameters, passesFilter } from '../../filter-sql.ts';
import type { CollectionRef, Metric, Search, SearchResult } from '../port.ts';
import { type Candidate, matchesOf, queryOf, sentVector, withSpare } from './exact-search.ts';
import { compareMatches } from './score.ts';

const EF_SEARCH_MIN = 200;
/** The largest that pgvector takes. */
const EF_SEARCH_MAX = 1_000;

const operators: Readonly<Record<Metric, string>> = { cosine: '<=>', euclidean: '<->', dotproduct: '<#>' };

const scanOn = statement(
  'vector_pg_iterative_scan',
  `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true)`,
);
const countPassing = statement(
  'vector_pg_count',
  `SELECT count(*) AS passing FROM vector_index.embedding i
    WHERE i.account_id = $4 AND i.collection_id = $5 AND ${passesFilter}`,
);

/** Rows that pass, of a filter that has conditions. */
export async function countMatching(tx: Queryable, ref: CollectionRef, filter: Search['filter']): Promise<number> {
  const values = [...filterParameters(filter ?? []), ref.accountId, ref.collectionId];
  return Number((await tx.query<{ passing: bigint }>(countPassing, values)).rows[0]?.passing ?? 0n);
}

/** Null when it came back with fewer than there are. On a transaction that sees one state. */
export async function searchGraph(
  tx: Queryable,
  ref: CollectionRef,
  { vector, topK, filter }: Search,
  rowsMatched: number,
): Promise<SearchResult | null> {
  const limit = withSpare(topK);
  await tx.query(scanOn, [String(Math.min(EF_SEARCH_MAX, Math.max(EF_SEARCH_MIN, 2 * limit)))]);
  const values = [...filterParameters(filter ?? []), ref.accountId, ref.collectionId, sentVector(vector), limit];
  const { rows } = await tx.query<Candidate>(nearestOf(ref), values);
  if (rows.length < Math.min(topK, rowsMatched)) return null;
  const matches = matchesOf(ref, queryOf(vector), rows).sort(compareMatches).slice(0, topK);
  return { matches, plan: 'ivf', rowsMatched, rowsScanned: rows.length, exact: false };
}

// Without a name, so that it is planned for these very values: a plan for any collection cannot use the graph of one. The dimension
// stands in the text, as in the index.
function nearestOf({ metric, dimension }: CollectionRef): Statement {
  const type = `vector(${Number(dimension)})`;
  return {
    name: '',
    text: `SELECT n.id, n.version, vector_send(n.embedding) AS embedding
             FROM (SELECT i.id, i.version, i.embedding FROM vector_index.embedding i
                    WHERE i.account_id = $4 AND i.collection_id = $5 AND ${passesFilter}
                    ORDER BY i.embedding::${type} ${operators[metric]} $6::${type} LIMIT $7) n`,
  };
}
