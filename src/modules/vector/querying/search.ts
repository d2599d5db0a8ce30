// Query execution: the engine finds ids, the database gives their rows. If a row changed in between, the next try asks the engine for more
// matches and brings the answer to one state of the database.

import type { Queryable } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { collectionNotFound } from '../collections/resource.ts';
import { type CollectionRow, collectionTable, refOf } from '../collections/store.ts';
import {
  CollectionGone,
  type CollectionRef,
  type Search,
  type SearchResult,
  type VectorEngine,
} from '../engine/port.ts';
import { readSnapshot } from '../engine/reader.ts';
import { compareMatches } from '../engine/score.ts';
import { searchChanged } from '../engine/stream-search.ts';
import { refuseUnfit } from '../items/embedding.ts';
import type { ItemRow } from '../items/store.ts';
import { readItems, readVersions } from '../items/stored.ts';
import { problem } from '../problems.ts';
import type { VectorState } from '../state.ts';
import { bytesOfMatches, type Found, renderAnswer } from './answer.ts';
import type { QueryBody } from './body.ts';

const GONE_TRIES_MAX = 4;
/** How many more than top_k a try asks for that follows one during which rows changed; four times as many each time. */
const SPARE_MIN = 64;
const SPARE_GROWTH = 4;

/** JSON text of `data`. `row` was read after the call came. Throws the Problems of a refusal. */
export async function answerQueries(
  ctx: CallContext,
  { engine }: VectorState,
  body: QueryBody,
  row: CollectionRow,
): Promise<string> {
  let collection = row;
  let spare = 0;
  for (let tries = 1; ; tries += 1) {
    for (const { vector, isZero, at } of body.queries) refuseUnfit({ length: vector.length, isZero }, collection, at);
    const found = await find(ctx, engine, body, collection, spare);
    if (found !== 'gone' && found !== 'changed') return renderAnswer(ctx, engine.name, body, collection, found);
    const now = await collectionTable.find(ctx.core.db, ctx, body.collection);
    if (now === null || (found === 'gone' && tries >= GONE_TRIES_MAX)) throw collectionNotFound();
    collection = now;
    // It ends: at the latest when the engine names every row that matches.
    if (found === 'changed') spare = Math.max(SPARE_MIN, spare * SPARE_GROWTH);
  }
}

/** 'gone' when the collection was deleted meanwhile, 'changed' when an answer needs more of the engine. */
async function find(
  ctx: CallContext,
  engine: VectorEngine,
  body: QueryBody,
  collection: CollectionRow,
  spare: number,
): Promise<Found | 'gone' | 'changed'> {
  const searches = body.queries.map(({ vector, topK, filter }) => ({ vector, topK, filter, exact: body.exact }));
  const wider = searches.map((search) => ({ ...search, topK: search.topK + spare }));
  try {
    const results = await engine.search(refOf(collection), wider, ctx.signal);
    if (!body.withMetadata && !body.withValues) return { results, rows: null };
    if (spare > 0) return await readReconciled(ctx, body, collection, searches, results);
    const rows = await readItems(ctx.core.db.hot, collection, idsOf(results), body, bytesOfMatches(ctx, body));
    return results.every(({ matches }) => matches.every((match) => isCurrent(rows, match)))
      ? { results, rows }
      : 'changed';
  } catch (error) {
    if (error instanceof CollectionGone) return 'gone';
    // Nobody waits for the answer any more, or the service stops.
    if (ctx.signal.aborted) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000, cause: error });
    throw error;
  }
}

function readReconciled(
  ctx: CallContext,
  body: QueryBody,
  collection: CollectionRow,
  searches: readonly Search[],
  wider: readonly SearchResult[],
): Promise<Found | 'changed'> {
  return readSnapshot(ctx.core.db, async (tx) => {
    const results = await reconcile(tx, refOf(collection), searches, wider);
    if (results === null) return 'changed';
    return { results, rows: await readItems(tx, collection, idsOf(results), body, bytesOfMatches(ctx, body)) };
  });
}

const idsOf = (results: readonly SearchResult[]) => [
  ...new Set(results.flatMap(({ matches }) => matches.map(({ id }) => id))),
];

function isCurrent(
  rows: ReadonlyMap<string, ItemRow>,
  match: { readonly id: string; readonly version: number },
): boolean {
  return Number(rows.get(match.id)?.version ?? -1n) === match.version;
}

// Answers that hold while rows change: what the engine found, as one later state of the database has it. Rows that changed behind
// the engine's answer are scored from their embeddings of that state, rows that are gone make room for the next best.

/**
 * The best of all rows as `tx` sees them, which is one snapshot. `results` are to `searches` with a larger topK, of one state at the
 * version of `ref` or later. Null when so many of them changed that a row the engine did not name may belong to the answer.
 * Throws CollectionGone.
 */
export async function reconcile(
  tx: Queryable,
  ref: CollectionRef,
  searches: readonly Search[],
  results: readonly SearchResult[],
): Promise<SearchResult[] | null> {
  const changed = await searchChanged(tx, ref, searches, ref.version);
  const ids = new Set(results.flatMap(({ matches }) => matches.map(({ id }) => id)));
  const versions = await readVersions(tx, ref, [...ids]);
  const reconciled = results.map((result, i) => {
    const { topK } = searches[i] as Search;
    // Whatever has a later version than `ref` is among `changed`, as it is now.
    const unchanged = result.matches.filter(
      ({ id, version }) => version <= ref.version && versions.get(id) === version,
    );
    const matches = [...unchanged, ...(changed[i] as SearchResult).matches].sort(compareMatches).slice(0, topK);
    return isCertain(matches, result, topK) ? { ...result, matches } : null;
  });
  return reconciled.every((result) => result !== null) ? reconciled : null;
}

/** Rows that did not change and that the engine did not name are no better than the last that it did. */
function isCertain(matches: SearchResult['matches'], found: SearchResult, topK: number): boolean {
  if (found.matches.length >= found.rowsMatched) return true;
  const [last, bound] = [matches[topK - 1], found.matches.at(-1)];
  if (last === undefined || bound === undefined) return false;
  return last.score > bound.score || (last.score === bound.score && last.id <= bound.id);
}
