// Histogram of records by time and level. Block summaries give the counts where they can. For whole minutes without other filters, only the
// blocks at the edges of the time range are read.
import type { BlockRef } from '../../../blocks/block.ts';
import { listBySpans, reckonSummaries } from '../../../blocks/summaries.ts';
import { SPAN_MS } from '../limits.ts';
import { levels } from '../records/levels.ts';
import { MINUTE_MS } from '../records/summary.ts';
import type { LogsState } from '../state.ts';
import { isOfTimes, marksOf, type Question, tooLate } from './question.ts';
import { type CellList, countRecords } from './scan.ts';
import { countTold } from './summary-scan.ts';

const BUCKETS_WANTED = 60;
export const BUCKETS_MAX = 1_500;
const COUNT_MS_MAX = 5_000;
/** In seconds. */
const INTERVALS = [1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];
/** What counting reads of a block, whatever is asked for. */
export const USED_COLUMNS = [
  ...['time', 'level', 'service', 'message', 'message_id', 'name', 'shape', 'shape_id', 'value', 'value_id'],
  ...['trace', 'trace_id', 'resource'],
];

export interface Histogram {
  /** Starts with records, each with as many counts as there are levels. */
  readonly buckets: ReadonlyMap<number, readonly number[]>;
  /** Whether all of the time was counted. */
  readonly isComplete: boolean;
}

/** The shortest usual interval of which the time has no more than some sixty. */
export function usualIntervalMs(spanMs: number): number {
  const wanted = INTERVALS.find((seconds) => spanMs / (seconds * 1_000) <= BUCKETS_WANTED);
  return (wanted ?? (INTERVALS.at(-1) as number)) * 1_000;
}

/** Throws as `findPage`. */
export async function countByTime(
  { core, store }: LogsState,
  accountId: string,
  question: Question,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Histogram> {
  const buckets = new Map<number, number[]>();
  const addAll = (cells: CellList) => {
    for (const [startMs, level, records] of cells) {
      let counts = buckets.get(startMs);
      if (counts === undefined) {
        counts = levels.map(() => 0);
        buckets.set(startMs, counts);
      }
      counts[level] = (counts[level] as number) + records;
    }
  };
  const isTold = isOfTimes(question) && intervalMs % MINUTE_MS === 0;
  const unread = isTold
    ? await countSummaries(core, store, accountId, { question, intervalMs, signal, addAll })
    : await store.list(accountId, { fromMs: question.fromMs, toMs: question.toMs, marks: marksOf(question) });
  const giveUpAt = performance.now() + COUNT_MS_MAX;
  const work = { columns: USED_COLUMNS, task: countRecords, args: { question, intervalMs }, tooLate };
  let counted = 0;
  // The latest first: they are what is looked at.
  for await (const { blocks, cells } of store.scan(accountId, unread.reverse(), work, signal)) {
    addAll(cells);
    counted += blocks;
    if (performance.now() > giveUpAt) break;
  }
  return { buckets, isComplete: counted === unread.length };
}

interface Telling {
  readonly question: Question;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  addAll(cells: CellList): void;
}

/** Adds what summaries tell; answers the blocks at the edges of the time, which must be read. */
async function countSummaries(
  core: LogsState['core'],
  store: LogsState['store'],
  accountId: string,
  { question, intervalMs, signal, addAll }: Telling,
): Promise<BlockRef[]> {
  const { fromMs, toMs, level } = question;
  const unread: BlockRef[] = [];
  for await (const refs of listBySpans(store, accountId, { fromMs, toMs }, SPAN_MS)) {
    const summaries: Uint8Array[] = [];
    for (const ref of refs) {
      const isWithin = startOfMinute(ref.fromMs) >= fromMs && startOfMinute(ref.toMs) + MINUTE_MS <= toMs;
      if (isWithin && ref.summary !== null) summaries.push(ref.summary);
      else unread.push(ref);
    }
    addAll(await reckonSummaries({ core, accountId, signal, tooLate }, countTold, { summaries, intervalMs, level }));
  }
  return unread;
}

const startOfMinute = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_MS;
