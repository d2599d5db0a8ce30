// Trends: event counts by interval. A plain count is answered from block summaries, without reading the events.
import type { BlockRef } from '../../../blocks/block.ts';
import { iso } from '../../../lib/time.ts';
import { COUNT_COLUMNS, propertyColumns } from '../events/stored-events.ts';
import { BREAKDOWN_VALUES_SHOWN, BUCKETS_MAX, HOUR } from '../limits.ts';
import { problem } from '../problems.ts';
import { bucketStarts, type Interval } from './buckets.ts';
import type { Filter } from './filter.ts';
import { blocksOf, type Question, reduce, scan } from './period.ts';
import { countedBySummaries } from './summary-scan.ts';
import { countTrend, type FinishedLine, finishTrend, type Line, type TrendArgs } from './trend-scan.ts';

export interface TrendQuestion extends Pick<TrendArgs, 'events' | 'math' | 'property' | 'breakdown' | 'includeBots'> {
  readonly interval: Interval;
  readonly filter: Filter;
}

export interface Trend {
  readonly times: readonly string[];
  readonly lines: readonly FinishedLine[];
}

/** Throws QUERY_TOO_LARGE, and INVALID_REQUEST for more than 1,000 intervals. */
export async function trendOf(question: Question, asked: TrendQuestion): Promise<Trend> {
  const { period, known } = question;
  const starts = bucketStarts(period.fromMs, period.toMs, asked.interval, BUCKETS_MAX);
  if (starts.length > BUCKETS_MAX) {
    const message = `The period has more than ${BUCKETS_MAX} intervals.`;
    throw problem('INVALID_REQUEST', { param: 'interval', message });
  }
  const args: TrendArgs = { ...asked, ...period, joins: known.table.parts(), starts: Float64Array.from(starts) };
  const parts = isPlain(question, asked) ? await countPlain(question, args) : await countBlocks(question, args);
  const shown = asked.breakdown === null ? 1 : BREAKDOWN_VALUES_SHOWN;
  const size = parts.reduce((sum, part) => sum + sizeOf(part), 0);
  const lines = await reduce(question, finishTrend, { parts, buckets: starts.length, math: asked.math, shown }, size);
  return { times: starts.map(iso), lines };
}

function sizeOf(part: readonly Line[]): number {
  return part.reduce(
    (sum, { events, people }) => sum + events.length + people.reduce((all, each) => all + (each?.length ?? 0), 0),
    0,
  );
}

/** Summaries count whole hours, and know nothing of people who were deleted meanwhile. */
function isPlain({ period, known }: Question, { math, breakdown, filter }: TrendQuestion): boolean {
  return (
    math === 'total' && breakdown === null && filter.length === 0 && !known.hasDeleted && period.fromMs % HOUR === 0
  );
}

async function countPlain(question: Question, args: TrendArgs): Promise<Line[][]> {
  const { lines, unread } = await countedBySummaries(question, args);
  return [lines, ...(await countBlocks(question, args, unread))];
}

async function countBlocks(question: Question, args: TrendArgs, some?: readonly BlockRef[]): Promise<Line[][]> {
  const refs = some ?? (await blocksOf(question));
  const properties = [args.property, args.breakdown, ...args.filter.map(({ field }) => field)];
  const named = properties.filter((name) => name !== null);
  const columns = [...COUNT_COLUMNS, ...(named.length === 0 ? [] : propertyColumns(named))];
  const parts: Line[][] = [];
  for await (const part of scan(question, refs, { columns, task: countTrend, args })) parts.push(part);
  return parts;
}
