// Answers that hold while rows change: what the engine found, as one later state of the database has it. Rows that changed behind
// the engine's answer are scored from their embeddings of that state, rows that are gone make room for the next best.
import type { Queryable } from '../../../db/database.ts';
import type { CollectionRef, Search, SearchResult } from '../engine/port.ts';
import { compareMatches } from '../engine/score.ts';
import { searchChanged } from '../engine/stream-search.ts';
import { readVersions } from '../items/stored.ts';

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
