// Plain counts from what blocks say of their events, without their columns; mostly in threads.
import type { BlockRef, ScanTask } from '../../../core/blocks/block.ts';
import { startOfDay } from '../../../lib/time.ts';
import { eachCount } from '../events/summary.ts';
import { HOUR } from '../limits.ts';
import { bucketOf } from './buckets.ts';
import { blocksOf, type Period, type Question, reduce } from './period.ts';
import { type Line, Lines, type TrendArgs } from './trend-scan.ts';

/** Days are read together until they have so many blocks, with a summary of up to 64 KiB each. */
const SUMMARIES_AT_ONCE = 64;
/** Of a count of one name and hour. */
const COUNT_BYTES = 4;

export interface SummaryArgs extends TrendArgs {
  readonly summaries: readonly Uint8Array[];
}

export const countSummaries: ScanTask<SummaryArgs, Line[]> = {
  source: import.meta.url,
  id: 'countSummaries',
  run(_, { summaries, events, includeBots, fromMs, toMs, starts }) {
    const lines = new Lines(starts.length);
    const places = new Map(events?.map((name, i) => [name, i]));
    for (const summary of summaries) {
      eachCount(summary, (name, hourMs, isBot, count) => {
        const series = events === null ? 0 : (places.get(name) ?? -1);
        if (series < 0 || (isBot && !includeBots) || hourMs < fromMs || hourMs >= toMs) return;
        const { events: counts } = lines.line(series, null);
        const bucket = bucketOf(starts, hourMs);
        counts[bucket] = (counts[bucket] as number) + count;
      });
    }
    return lines.parts();
  },
};

/** What summaries count, and the blocks that must be read: theirs is too long, or not all of an hour is asked for. */
export async function countedBySummaries(
  question: Question,
  args: TrendArgs,
): Promise<{ readonly lines: Line[]; readonly unread: readonly BlockRef[] }> {
  const lines = new Lines(args.starts.length);
  const unread: BlockRef[] = [];
  for (const period of piecesOf(question.period, await blocksOf(question))) {
    question.signal.throwIfAborted();
    const summaries: Uint8Array[] = [];
    for (const ref of await blocksOf({ ...question, period }, { withSummary: true })) {
      const isWhole = ref.toMs < args.toMs || args.toMs % HOUR === 0;
      if (isWhole && ref.summary !== null && ref.summary.length > 0) summaries.push(ref.summary);
      else unread.push(ref);
    }
    const counts = summaries.reduce((sum, { length }) => sum + length, 0) / COUNT_BYTES;
    for (const line of await reduce(question, countSummaries, { ...args, summaries }, counts)) lines.add(line);
  }
  return { lines: lines.parts(), unread };
}

/** Whole days, each of which is listed at one instant: a block lies within a day, so a merge meanwhile counts nothing twice. */
function* piecesOf({ fromMs, toMs }: Period, refs: readonly BlockRef[]): Generator<Period> {
  const days = Map.groupBy(refs, (ref) => startOfDay(ref.fromMs));
  let [start, blocks] = [fromMs, 0];
  for (const [day, { length }] of [...days].sort(([a], [b]) => a - b)) {
    if (blocks > 0 && blocks + length > SUMMARIES_AT_ONCE) {
      yield { fromMs: start, toMs: day };
      [start, blocks] = [day, 0];
    }
    blocks += length;
  }
  if (blocks > 0) yield { fromMs: start, toMs };
}
