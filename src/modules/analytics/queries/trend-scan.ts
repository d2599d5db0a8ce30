// Trends over blocks, mostly in threads: event count, sum or people for each series, breakdown value and interval.
import type { ScanTask, StoredBlock } from '../../../blocks/block.ts';
import { plainOf } from '../events/property-columns.ts';
import { StoredEvents } from '../events/stored-events.ts';
import { BREAKDOWN_VALUES_MAX } from '../limits.ts';
import { IntTable } from '../people/int-table.ts';
import { DELETED } from '../people/joins.ts';
import { problem } from '../problems.ts';
import { bucketOf } from './buckets.ts';
import { type Filter, matching, numbersOfValues } from './filter.ts';
import type { CountArgs } from './period.ts';

export type Aggregate = 'total' | 'uniques' | 'sum' | 'avg';

export interface TrendArgs extends CountArgs {
  /** Names of events, a series each; null: one of all events. */
  readonly events: readonly string[] | null;
  readonly math: Aggregate;
  readonly property: string | null;
  readonly breakdown: string | null;
  readonly filter: Filter;
  readonly starts: Float64Array;
}

/** Of a series and value: what each interval has. */
export interface Line {
  readonly series: number;
  /** Null: events without the property, or no breakdown. */
  readonly value: string | null;
  readonly events: Float64Array;
  readonly sums: Float64Array;
  /** People of each interval, each once; absent unless uniques are asked for. */
  readonly people: (Int32Array | null)[];
}

interface Counting extends Omit<Line, 'people'> {
  readonly people: (IntTable | null)[];
}

export class TrendLines {
  readonly #lines = new Map<string, Counting>();
  readonly #buckets: number;

  constructor(buckets: number) {
    this.#buckets = buckets;
  }

  line(series: number, value: string | null): Counting {
    const key = value === null ? `${series}` : `${series} ${value}`;
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    if (this.#lines.size >= BREAKDOWN_VALUES_MAX) {
      const message = `The property of breakdown has more than ${BREAKDOWN_VALUES_MAX} values.`;
      throw problem('QUERY_TOO_LARGE', { param: 'breakdown', message });
    }
    const line: Counting = {
      series,
      value,
      events: new Float64Array(this.#buckets),
      sums: new Float64Array(this.#buckets),
      people: new Array<IntTable | null>(this.#buckets).fill(null),
    };
    this.#lines.set(key, line);
    return line;
  }

  add({ series, value, events, sums, people }: Line): void {
    const line = this.line(series, value);
    for (let bucket = 0; bucket < events.length; bucket += 1) {
      line.events[bucket] = (line.events[bucket] as number) + (events[bucket] as number);
      line.sums[bucket] = (line.sums[bucket] as number) + (sums[bucket] as number);
      const more = people[bucket] ?? null;
      if (more === null) continue;
      line.people[bucket] ??= new IntTable();
      for (const person of more) line.people[bucket]?.set(person, 1);
    }
  }

  all(): Counting[] {
    return [...this.#lines.values()];
  }

  parts(): Line[] {
    return this.all().map((line) => ({ ...line, people: line.people.map((table) => table?.keys() ?? null) }));
  }
}

export const countTrend: ScanTask<TrendArgs, Line[]> = {
  source: import.meta.url,
  id: 'countTrend',
  run(blocks, args) {
    const lines = new TrendLines(args.starts.length);
    const joins = new IntTable(args.joins);
    for (const block of blocks) countBlock(block, args, joins, lines);
    return lines.parts();
  },
};

/** Which series each name belongs to; -1: none. */
export function seriesOf(names: readonly (string | null)[], events: readonly string[] | null): Int32Array {
  return Int32Array.from(names, (name) => (events === null ? 0 : events.indexOf(name as string)));
}

function countBlock(block: StoredBlock, args: TrendArgs, joins: IntTable, lines: TrendLines): void {
  const { fromMs, toMs, includeBots, math, starts } = args;
  const events = new StoredEvents(block);
  const names = events.names();
  const series = seriesOf(names.values, args.events);
  if (!series.some((each) => each >= 0)) return;
  const persons = events.persons();
  const bots = includeBots ? null : events.bots();
  const matches = matching(events, args.filter);
  const isWithin = events.fromMs >= fromMs && events.toMs < toMs;
  const first = bucketOf(starts, Math.max(events.fromMs, fromMs));
  const isOneBucket = first === bucketOf(starts, Math.min(events.toMs, toMs - 1));
  const times = isWithin && isOneBucket ? null : events.times;
  const value = args.property === null ? null : events.property(args.property);
  const numbers = value === null ? null : numbersOfValues(value);
  const broken = args.breakdown === null ? null : events.property(args.breakdown);
  const linesOf = new Map<number, Counting>();
  let [bucket, bucketEnd] = [first, starts[first + 1] ?? Number.POSITIVE_INFINITY];
  for (let i = 0; i < events.records; i += 1) {
    const of = series[names.ids[i] as number] as number;
    const number = persons[i] as number;
    if (of < 0 || number === 0 || bots?.[i] === 1 || matches?.[i] === 0) continue;
    if (times !== null) {
      const time = times[i] as number;
      if (time < fromMs || time >= toMs) continue;
      while (time >= bucketEnd) {
        bucket += 1;
        bucketEnd = starts[bucket + 1] ?? Number.POSITIVE_INFINITY;
      }
    }
    const person = joins.get(number, number);
    if (person === DELETED) continue;
    let sum = 0;
    if (numbers !== null && value !== null) {
      sum = numbers[value.ids[i] as number] as number;
      if (Number.isNaN(sum)) continue;
    }
    const key = of + (broken?.ids[i] ?? 0) * 64;
    let line = linesOf.get(key);
    if (line === undefined) {
      const typed = broken?.values[broken.ids[i] as number] ?? null;
      line = lines.line(of, typed === null ? null : plainOf(typed));
      linesOf.set(key, line);
    }
    line.events[bucket] = (line.events[bucket] as number) + 1;
    line.sums[bucket] = (line.sums[bucket] as number) + sum;
    if (math !== 'uniques') continue;
    line.people[bucket] ??= new IntTable();
    line.people[bucket]?.set(person, 1);
  }
}

export interface FinishArgs {
  readonly parts: readonly (readonly Line[])[];
  readonly buckets: number;
  readonly math: Aggregate;
  /** Values of the breakdown that are told one by one. */
  readonly shown: number;
}

export interface FinishedLine {
  readonly series: number;
  readonly value: string | null;
  readonly isOther: boolean;
  readonly values: readonly number[];
  readonly total: number;
}

/** The parts together: lines with the largest totals first, the others as one. */
export const finishTrend: ScanTask<FinishArgs, FinishedLine[]> = {
  source: import.meta.url,
  id: 'finishTrend',
  run(_, { parts, buckets, math, shown }) {
    const lines = new TrendLines(buckets);
    for (const part of parts) for (const line of part) lines.add(line);
    const finished: FinishedLine[] = [];
    for (const of of Map.groupBy(lines.all(), ({ series }) => series).values()) {
      const sized = of.map((line) => ({ line, done: finish(line, math, false) }));
      sized.sort((a, b) => b.done.total - a.done.total || ((a.line.value ?? '') < (b.line.value ?? '') ? -1 : 1));
      finished.push(...sized.slice(0, shown).map(({ done }) => done));
      const others = sized.slice(shown);
      if (others.length > 0)
        finished.push(
          finish(
            together(
              others.map(({ line }) => line),
              buckets,
            ),
            math,
            true,
          ),
        );
    }
    return finished.sort((a, b) => a.series - b.series);
  },
};

function together(lines: readonly Counting[], buckets: number): Counting {
  const all = new TrendLines(buckets);
  const { series } = lines[0] as Counting;
  for (const line of lines) {
    all.add({ ...line, series, value: null, people: line.people.map((table) => table?.keys() ?? null) });
  }
  return all.line(series, null);
}

function finish({ series, value, events, sums, people }: Counting, math: Aggregate, isOther: boolean): FinishedLine {
  const add = (numbers: ArrayLike<number>) => Array.from(numbers).reduce((sum, each) => sum + each, 0);
  const average = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
  const of = { series, value, isOther };
  if (math === 'total') return { ...of, values: [...events], total: add(events) };
  if (math === 'sum') return { ...of, values: [...sums], total: add(sums) };
  if (math === 'avg') {
    const values = Array.from(sums, (sum, bucket) => average(sum, events[bucket] as number));
    return { ...of, values, total: average(add(sums), add(events)) };
  }
  const everybody = new IntTable();
  for (const table of people) for (const person of table?.keys() ?? []) everybody.set(person, 1);
  return { ...of, values: people.map((table) => table?.size ?? 0), total: everybody.size };
}
