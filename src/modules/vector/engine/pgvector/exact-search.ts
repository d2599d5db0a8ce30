// Exact search in PostgreSQL: all passing rows are ranked by a lower bound of their true distance, and the best are scored here in f64. If a row
// that was not fetched could still belong to the answer, every such row is fetched and scored.
import type { Queryable } from '../../../../db/database.ts';
import { type SqlValue, statement } from '../../../../db/statement.ts';
import type { CollectionRef, Match, Search, SearchResult } from '../port.ts';
import { compareMatches, type Query, queryOf, scoreOf } from '../score.ts';
import { isPassing, passingParameters } from './passing.ts';
import { boundOf, isPlain, toDistance } from './score.ts';
import { decodeVector, encodeVector } from './wire.ts';

const SPARE_MIN = 16;
const SPARE_SHARE = 4;
const PAGE_BYTES = 4 * 2 ** 20;
const ROW_BYTES_BESIDE = 512;

// $8 query, $9 metric, $10-$12 the bound, $13 whether the query is within the range where the bound holds; else all rows are near.
const lowerBound = `CASE WHEN $13::boolean AND (i.norm = 0 OR i.norm BETWEEN 1e-15 AND 1e15)
       THEN CASE $9::text WHEN 'cosine' THEN i.embedding <=> $8::vector WHEN 'euclidean' THEN i.embedding <-> $8::vector
                          ELSE i.embedding <#> $8::vector END * $10::float8 - $11::float8 - $12::float8 * i.norm
       ELSE '-Infinity' END`;
const selectNearest = statement(
  'vector_pg_nearest',
  `WITH passing AS MATERIALIZED (
     SELECT i.id, ${lowerBound} AS bound FROM vector_index.embedding i
      WHERE ${isPassing})
   SELECT e.id, e.version, e.embedding, best.bound, (SELECT count(*) FROM passing) AS passing
     FROM (SELECT p.id, p.bound FROM passing p ORDER BY p.bound LIMIT $14) best,
          LATERAL (SELECT s.id, s.version, vector_send(s.embedding) AS embedding FROM vector_index.embedding s
                    WHERE s.account_id = $4 AND s.collection_id = $5 AND s.id = best.id OFFSET 0) e`,
);
const selectWithin = statement(
  'vector_pg_within',
  `SELECT i.id, i.version, vector_send(i.embedding) AS embedding FROM vector_index.embedding i
    WHERE i.id > $15 AND ${lowerBound} <= $16 AND ${isPassing}
    ORDER BY i.account_id, i.collection_id, i.id LIMIT $14`,
);

export interface Candidate {
  readonly id: string;
  readonly version: bigint;
  /** As vector_send gives it. */
  readonly embedding: Buffer;
}

interface Near extends Candidate {
  readonly bound: number;
  readonly passing: bigint;
}

/** How many more than topK are fetched: rows whose distances f32 cannot tell apart. */
export const withSpare = (topK: number) => topK + Math.max(SPARE_MIN, Math.ceil(topK / SPARE_SHARE));

export function matchesOf({ metric }: CollectionRef, query: Query, candidates: readonly Candidate[]): Match[] {
  return candidates.map(({ id, version, embedding }) => ({
    id,
    score: scoreOf(metric, query, decodeVector(embedding)),
    version: Number(version),
  }));
}

export function sentVector({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return encodeVector(Buffer.from(buffer, byteOffset, byteLength));
}

/** On a transaction that sees one state. */
export async function searchExact(
  tx: Queryable,
  ref: CollectionRef,
  { vector, topK, filter }: Search,
): Promise<SearchResult> {
  const query = queryOf(vector);
  const { factor, shift, perNorm } = boundOf(ref.metric, query);
  const sent = [...passingParameters(ref, filter), sentVector(vector), ref.metric];
  const values = [...sent, factor, shift, perNorm, isPlain(query.norm)];
  const limit = withSpare(topK);
  const { rows } = await tx.query<Near>(selectNearest, [...values, limit]);
  const rowsMatched = Number(rows[0]?.passing ?? 0n);
  let matches = matchesOf(ref, query, rows).sort(compareMatches).slice(0, topK);
  const furthest = Math.max(...rows.map(({ bound }) => bound));
  const least = matches.at(-1);
  if (rows.length < rowsMatched && least !== undefined && furthest <= toDistance(ref.metric, least.score))
    matches = await scoreWithin(tx, ref, query, { values, topK, within: toDistance(ref.metric, least.score) });
  return { matches, plan: 'exact', rowsMatched, rowsScanned: rowsMatched, exact: true };
}

interface Within {
  readonly values: readonly SqlValue[];
  readonly topK: number;
  /** A distance that topK rows are known to keep. */
  readonly within: number;
}

async function scoreWithin(
  tx: Queryable,
  ref: CollectionRef,
  query: Query,
  { values, topK, within }: Within,
): Promise<Match[]> {
  const limit = Math.ceil(PAGE_BYTES / (ref.dimension * 4 + ROW_BYTES_BESIDE));
  let best: Match[] = [];
  let after = '';
  for (;;) {
    const { rows } = await tx.query<Candidate>(selectWithin, [...values, limit, after, within]);
    best = [...best, ...matchesOf(ref, query, rows)].sort(compareMatches).slice(0, topK);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return best;
    after = last.id;
  }
}
