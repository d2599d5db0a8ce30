// Records by time and level. What the summaries of blocks tell is not read again: of whole minutes and without other filters, that is all but
// the blocks at the edges of the time.
import type { BlockRef } from '../../../core/blocks/block.ts';
import { levels } from '../records/levels.ts';
import { MINUTE_MS, readSummary } from '../records/summary.ts';
import type { LogsState } from '../state.ts';
import { isOfTimes, marksOf, type Question } from './question.ts';
import { countRecords } from './scan.ts';

const BUCKETS_WANTED = 60;
export const BUCKETS_MAX = 1_500;
const COUNT_MS_MAX = 5_000;
/** In seconds. */
const INTERVALS = [1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];
const COLUMNS = [
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
  { store }: LogsState,
  accountId: string,
  question: Question,
  intervalMs: number,
  signal: AbortSignal,
): Promise<Histogram> {
  const buckets = new Map<number, number[]>();
  const add = (startMs: number, level: number, records: number) => {
    let counts = buckets.get(startMs);
    if (counts === undefined) {
      counts = levels.map(() => 0);
      buckets.set(startMs, counts);
    }
    counts[level] = (counts[level] as number) + records;
  };
  const isTold = isOfTimes(question) && intervalMs % MINUTE_MS === 0;
  const { fromMs, toMs } = question;
  const refs = await store.list(accountId, { fromMs, toMs, marks: marksOf(question), withSummary: true });
  const unread: BlockRef[] = [];
  for (const ref of refs) {
    const isWithin = startOfMinute(ref.fromMs) >= fromMs && startOfMinute(ref.toMs) + MINUTE_MS <= toMs;
    if (!isTold || !isWithin) {
      unread.push(ref);
      continue;
    }
    readSummary(ref.summary as Buffer).eachCell((minuteMs, level, records) => {
      if (level >= question.level) add(Math.floor(minuteMs / intervalMs) * intervalMs, level, records);
    });
  }
  const giveUpAt = performance.now() + COUNT_MS_MAX;
  const work = { columns: COLUMNS, task: countRecords, args: { question, intervalMs } };
  let counted = 0;
  // The latest first: they are what is looked at.
  for await (const { blocks, cells } of store.scan(accountId, unread.reverse(), work, signal)) {
    for (const [startMs, level, records] of cells) add(startMs, level, records);
    counted += blocks;
    if (performance.now() > giveUpAt) break;
  }
  return { buckets, isComplete: counted === unread.length };
}

const startOfMinute = (ms: number) => Math.floor(ms / MINUTE_MS) * MINUTE_MS;
