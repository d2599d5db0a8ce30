// How often things happened, by intervals. A plain count is answered from what blocks say of their events, without reading them.
import { iso } from '../../../lib/time.ts';
import { COUNT_COLUMNS, propertyColumns } from '../events/stored-events.ts';
import { eachCount } from '../events/summary.ts';
import { BREAKDOWN_VALUES_SHOWN, BUCKETS_MAX, HOUR } from '../limits.ts';
import { problem } from '../problems.ts';
import { bucketOf, bucketStarts, type Interval } from './buckets.ts';
import type { Filter } from './filter.ts';
import { blocksOf, type Question, reduce, scan } from './period.ts';
import {
  countTrend,
  type FinishedLine,
  finishTrend,
  type Line,
  Lines,
  seriesOf,
  type TrendArgs,
} from './trend-scan.ts';

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
  const parts = isPlain(question, asked) ? await countSummaries(question, args) : await countBlocks(question, args);
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

async function countSummaries(question: Question, args: TrendArgs): Promise<Line[][]> {
  const refs = await blocksOf(question, { withSummary: true });
  const { toMs, starts, events, includeBots } = args;
  const isKnown = (ref: (typeof refs)[number]) =>
    ref.summary !== null && ref.summary.length > 0 && (ref.toMs < toMs || toMs % HOUR === 0);
  const lines = new Lines(starts.length);
  for (const { summary } of refs.filter(isKnown)) {
    eachCount(summary as Buffer, (name, hourMs, isBot, count) => {
      const [series = -1] = seriesOf([name], events);
      if (series < 0 || (isBot && !includeBots) || hourMs < args.fromMs || hourMs >= toMs) return;
      const { events: counts } = lines.line(series, null);
      const bucket = bucketOf(starts, hourMs);
      counts[bucket] = (counts[bucket] as number) + count;
    });
  }
  const read = await countBlocks(
    question,
    args,
    refs.filter((ref) => !isKnown(ref)),
  );
  return [lines.parts(), ...read];
}

async function countBlocks(
  question: Question,
  args: TrendArgs,
  some?: Awaited<ReturnType<typeof blocksOf>>,
): Promise<Line[][]> {
  const refs = some ?? (await blocksOf(question));
  const properties = [args.property, args.breakdown, ...args.filter.map(({ property }) => property)];
  const named = properties.filter((name) => name !== null);
  const columns = [...COUNT_COLUMNS, ...(named.length === 0 ? [] : propertyColumns(named))];
  const parts: Line[][] = [];
  for await (const part of scan(question, refs, { columns, task: countTrend, args })) parts.push(part);
  return parts;
}
