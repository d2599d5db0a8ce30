// Plain counts from block summaries, without reading columns; mostly in threads.
import type { BlockRef, ScanTask } from '../../../blocks/block.ts';
import { listBySpans, reckonSummaries } from '../../../blocks/summaries.ts';
import { eachCount } from '../events/summary.ts';
import { HOUR, SPAN_MS } from '../limits.ts';
import { bucketOf } from './buckets.ts';
import { type Question, tooLate } from './period.ts';
import { type Line, type TrendArgs, TrendLines } from './trend-scan.ts';

export interface SummaryArgs extends TrendArgs {
  readonly summaries: readonly Uint8Array[];
}

export const countSummaries: ScanTask<SummaryArgs, Line[]> = {
  source: import.meta.url,
  id: 'countSummaries',
  run(_, { summaries, events, includeBots, fromMs, toMs, starts }) {
    const lines = new TrendLines(starts.length);
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
  { ctx, state, period, signal }: Question,
  args: TrendArgs,
): Promise<{ readonly lines: Line[]; readonly unread: readonly BlockRef[] }> {
  const lines = new TrendLines(args.starts.length);
  const unread: BlockRef[] = [];
  for await (const refs of listBySpans(state.store, ctx.accountId, period, SPAN_MS)) {
    const summaries: Uint8Array[] = [];
    for (const ref of refs) {
      const isWhole = ref.toMs < args.toMs || args.toMs % HOUR === 0;
      if (isWhole && ref.summary !== null && ref.summary.length > 0) summaries.push(ref.summary);
      else unread.push(ref);
    }
    const asker = { core: ctx.core, accountId: ctx.accountId, signal, tooLate };
    const counted = await reckonSummaries(asker, countSummaries, { ...args, summaries });
    for (const line of counted) lines.add(line);
  }
  return { lines: lines.parts(), unread };
}
