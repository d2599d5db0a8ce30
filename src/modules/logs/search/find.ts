// Pages of a log search. The time range is searched in windows from where the page starts. A window's blocks are read in order of time, a few
// first, until no remaining block can hold an earlier result. Windows end at span boundaries, so no block belongs to two.
import { setImmediate as turn } from 'node:timers/promises';
import type { BlockRef } from '../../../blocks/block.ts';
import { windowsOf } from '../../../blocks/windows.ts';
import { SPAN_MS } from '../limits.ts';
import { ALL_COLUMNS } from '../records/stored-log.ts';
import { levelsIn } from '../records/summary.ts';
import type { LogsState } from '../state.ts';
import { marksOf, type Question, tooLate } from './question.ts';
import { compare, type FindArgs, type FoundRecord, findRecords, PAGE_BYTES_MAX, type Position } from './scan.ts';

const PIECE_BLOCKS_MAX = 16;
/** Pieces that are read or looked at at once. */
const PIECES = 2;
/** After so long a page is answered as it is, with a cursor to go on from. */
const SEARCH_MS_MAX = 5_000;
const LAST_NUMBER = 2n ** 63n - 1n;

export interface Found {
  readonly records: readonly FoundRecord[];
  /** Where the next page goes on; null: nothing is left. */
  readonly next: Position | null;
}

interface Search {
  readonly accountId: string;
  readonly args: FindArgs;
  readonly signal: AbortSignal;
  readonly giveUpAt: number;
}

/** Throws the reason of `signal`, CONCURRENCY_LIMITED and OVERLOADED. */
export async function findPage(
  { store }: LogsState,
  accountId: string,
  args: FindArgs,
  signal: AbortSignal,
): Promise<Found> {
  const { question, after, isNewestFirst } = args;
  const keptMs = await store.firstKeptMs(accountId);
  const fromMs = Math.max(question.fromMs, keptMs, isNewestFirst ? 0 : (after?.timeMs ?? 0));
  const toMs = isNewestFirst && after !== null ? Math.min(question.toMs, after.timeMs + 1) : question.toMs;
  const search = {
    accountId,
    signal,
    giveUpAt: performance.now() + SEARCH_MS_MAX,
    args: { ...args, question: { ...question, fromMs, toMs } },
  };
  let found: FoundRecord[] = [];
  for (const [start, end] of windowsOf({ fromMs, toMs, spanMs: SPAN_MS, isNewestFirst })) {
    const looked = await inWindow(store, search, { ...search.args.question, fromMs: start, toMs: end }, found);
    found = looked.found;
    if (isFull(found, args.limit)) break;
    if (looked.left !== null) return { records: found, next: looked.left };
  }
  return pageOf(found, args.limit);
}

function pageOf(found: readonly FoundRecord[], limit: number): Found {
  const size = sizeOf(found, limit);
  const records = found.slice(0, size);
  return { records, next: found.length > size ? (records.at(-1) as Position) : null };
}

/** How many of the records a page has. */
function sizeOf(found: readonly FoundRecord[], limit: number): number {
  let bytes = 0;
  let size = 0;
  while (size < Math.min(limit, found.length) && bytes <= PAGE_BYTES_MAX) {
    bytes += (found[size] as FoundRecord).json.length;
    size += 1;
  }
  return size;
}

const isFull = (found: readonly FoundRecord[], limit: number) => found.length > sizeOf(found, limit);

/** Blocks that may hold answers, in the order in which they are looked at. */
async function blocksOf(
  store: LogsState['store'],
  { accountId, args: { isNewestFirst } }: Search,
  question: Question,
): Promise<BlockRef[]> {
  const { fromMs, toMs, level } = question;
  const refs = await store.list(accountId, { fromMs, toMs, marks: marksOf(question), withSummary: level > 0 });
  const graver = refs.filter(({ summary }) => summary === null || levelsIn(summary) >> level > 0);
  return graver.sort((a, b) => (isNewestFirst ? b.toMs - a.toMs : a.fromMs - b.fromMs));
}

/** What the window adds to what was found. `left`: the time was up, and this is how far the list is complete. */
async function inWindow(
  store: LogsState['store'],
  search: Search,
  question: Question,
  before: readonly FoundRecord[],
): Promise<{ readonly found: FoundRecord[]; readonly left: Position | null }> {
  const { accountId, args, signal, giveUpAt } = search;
  const { isNewestFirst, limit } = args;
  const sign = isNewestFirst ? -1 : 1;
  const refs = await blocksOf(store, search, question);
  let found = [...before];
  for (let at = 0, size = 1; at < refs.length; size = Math.min(size * 2, PIECE_BLOCKS_MAX)) {
    const ref = refs[at] as BlockRef;
    const nextMs = isNewestFirst ? ref.toMs : ref.fromMs;
    const last = found[sizeOf(found, limit)];
    if (last !== undefined && sign * (nextMs - last.timeMs) > 0) break;
    if (performance.now() > giveUpAt) {
      const left = { timeMs: nextMs, number: isNewestFirst ? LAST_NUMBER : 0n };
      return { found: found.filter((row) => sign * compare(row, left) < 0), left };
    }
    const work = { source: findRecords.source, exportName: findRecords.id, columns: ALL_COLUMNS, args, tooLate };
    const next = Array.from({ length: PIECES }, (_, i) => refs.slice(at + i * size, at + (i + 1) * size));
    const parts = await Promise.all(next.map((piece) => store.work<FoundRecord[]>(accountId, piece, work, signal)));
    found = [...found, ...parts.flat()].sort((a, b) => sign * compare(a, b)).slice(0, limit + 1);
    at += PIECES * size;
    await turn();
  }
  return { found, left: null };
}
