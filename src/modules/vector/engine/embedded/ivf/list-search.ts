// Approximate search: exact within the likeliest lists, no rows outside them.

import type { TimeSlices } from '../../../../../lib/time-slices.ts';
import { Best } from '../../best.ts';
import type { SearchResult } from '../../port.ts';
import { Candidates } from '../exact/candidates.ts';
import { type ExactSearch, rescore } from '../exact/exact-search.ts';
import { CANDIDATE_BYTES, CANDIDATES_AT, QUERY_INT16_AT } from '../kernel/kernel.ts';
import type { ListBlock, Lists } from './lists.ts';

/** @param probes how many lists are looked at; more when they hold fewer rows than are asked for */
export async function searchLists(
  search: ExactSearch,
  lists: Lists,
  probes: number,
  slices: TimeSlices,
): Promise<SearchResult> {
  const { ids, query, topK, rows } = search;
  const candidates = new Candidates(topK);
  let scanned = 0;
  for (const [rank, list] of lists.centroids.rankLists(query).entries()) {
    if (rank >= probes && scanned >= topK) break;
    for (const block of lists.blocksOf(list)) {
      scanBlock(block, search, candidates);
      scanned += block.count;
    }
    if (slices.isOver) await slices.next();
  }
  const best = new Best(topK, (row) => ids.idOf(row));
  await rescore(search, candidates, best, slices);
  const matches = best.matches((row) => ids.versionOf(row));
  return { matches, plan: 'ivf', rowsMatched: rows, rowsScanned: scanned, exact: false };
}

function scanBlock({ block, rows, count }: ListBlock, search: ExactSearch, candidates: Candidates): void {
  if (count === 0) return;
  const { vectors, query, metric } = search;
  const { kernel, int16, uint32, float64 } = block.arena;
  int16.set(query.int16, QUERY_INT16_AT / 2);
  const found = kernel.scan(
    block.at,
    vectors.smallStride,
    0,
    0,
    count,
    QUERY_INT16_AT,
    query.scale,
    query.norm,
    query.slack,
    metric === 'euclidean' ? 1 : 0,
    candidates.threshold,
    CANDIDATES_AT,
  );
  for (let i = 0, at = CANDIDATES_AT; i < found; i += 1, at += CANDIDATE_BYTES) {
    const row = rows[uint32[at / 4] as number] as number;
    candidates.offer(row, float64[at / 8 + 1] as number, float64[at / 8 + 2] as number);
  }
}
