// Funnels: how many people did one thing after another, each step later than the one before, all within the window since the first.
import type { ScanTask } from '../../../core/blocks/block.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { plainOf } from '../events/property-columns.ts';
import { COUNT_COLUMNS, propertyColumns, StoredEvents } from '../events/stored-events.ts';
import { BREAKDOWN_VALUES_SHOWN } from '../limits.ts';
import { IntTable } from '../people/int-table.ts';
import { DELETED } from '../people/joins.ts';
import { type Filter, matching } from './filter.ts';
import { blocksOf, type CountArgs, type Question, reduce, scan } from './period.ts';

export interface Step {
  readonly event: string;
  readonly filter: Filter;
}

interface FunnelArgs extends CountArgs {
  readonly steps: readonly Step[];
  readonly breakdown: string | null;
}

/** Events of a block that are a step of somebody, in the order of time. */
interface Found {
  readonly blockId: bigint;
  readonly day: number;
  readonly times: Float64Array;
  readonly people: Int32Array;
  /** Which steps it is, a bit each. */
  readonly steps: Uint16Array;
  /** Of events of the first step; null: there is no breakdown. */
  readonly values: (string | null)[] | null;
  readonly valueIds: Uint32Array | null;
}

export const findSteps: ScanTask<FunnelArgs, Found[]> = {
  source: import.meta.url,
  id: 'findSteps',
  run: (blocks, args) =>
    blocks.flatMap((block) => foundIn(new StoredEvents(block), args, new IntTable(args.joins)) ?? []),
};

function foundIn(events: StoredEvents, args: FunnelArgs, joins: IntTable): Found | null {
  const { fromMs, toMs, steps, breakdown, includeBots } = args;
  const names = events.names();
  const isStep = names.values.map((name) =>
    steps.reduce((bits, { event }, i) => (event === name ? bits | (1 << i) : bits), 0),
  );
  if (isStep.every((bits) => bits === 0)) return null;
  const filters = steps.map(({ filter }) => matching(events, filter));
  const [persons, times, bots] = [events.persons(), events.times, includeBots ? null : events.bots()];
  const broken = breakdown === null ? null : events.property(breakdown);
  const [at, who, bitsOf, valueIds]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let i = 0; i < events.records; i += 1) {
    let bits = isStep[names.ids[i] as number] as number;
    const [number, time] = [persons[i] as number, times[i] as number];
    if (bits === 0 || number === 0 || bots?.[i] === 1 || time < fromMs || time >= toMs) continue;
    for (let step = 0; step < filters.length; step += 1) if (filters[step]?.[i] === 0) bits &= ~(1 << step);
    if (bits === 0) continue;
    const person = joins.get(number, number);
    if (person === DELETED) continue;
    at.push(time);
    who.push(person);
    bitsOf.push(bits);
    valueIds.push(broken?.ids[i] ?? 0);
  }
  return {
    ...{ blockId: events.blockId, day: Math.floor(events.fromMs / DAY_MS) },
    times: Float64Array.from(at),
    people: Int32Array.from(who),
    steps: Uint16Array.from(bitsOf),
    values: broken === null ? null : broken.values.map((typed) => (typed === null ? null : plainOf(typed))),
    valueIds: broken === null ? null : Uint32Array.from(valueIds),
  };
}

export interface FunnelLine {
  readonly value: string | null;
  readonly isOther: boolean;
  /** People who came to each step at least. */
  readonly counts: readonly number[];
}

interface FinishArgs {
  readonly found: readonly Found[];
  readonly steps: number;
  readonly windowMs: number;
}

/** Events in the order of time, of one instant in that of blocks and places; day by day, since no block has two. */
function* inOrder(found: readonly Found[]): Generator<readonly [of: Found, event: number]> {
  for (const day of [...Map.groupBy(found, (each) => each.day)].sort(([a], [b]) => a - b)) {
    const lists = day[1].sort((a, b) => (a.blockId < b.blockId ? -1 : 1));
    const count = lists.reduce((sum, { times }) => sum + times.length, 0);
    const times = new Float64Array(count);
    const list = new Uint32Array(count);
    const place = new Uint32Array(count);
    let at = 0;
    for (const [i, { times: own }] of lists.entries()) {
      times.set(own, at);
      list.fill(i, at, at + own.length);
      for (let j = 0; j < own.length; j += 1) place[at + j] = j;
      at += own.length;
    }
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i += 1) order[i] = i;
    if (lists.length > 1) order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
    for (const i of order) yield [lists[list[i] as number] as Found, place[i] as number];
  }
}

/**
 * A person's chains, of which for each step the one is known that began last: whatever may follow, it is within the window the longest. A
 * person counts with the value that the property had at their first event of the first step.
 */
export const finishFunnel: ScanTask<FinishArgs, { lines: FunnelLine[] }> = {
  source: import.meta.url,
  id: 'finishFunnel',
  run(_, { found, steps, windowMs }) {
    const places = new IntTable();
    const begun: number[][] = Array.from({ length: steps }, () => []);
    const reached: number[] = [];
    const groups: (string | null)[] = [];
    for (const [{ times, people, steps: bitsOf, values, valueIds }, event] of inOrder(found)) {
      const [time, bits] = [times[event] as number, bitsOf[event] as number];
      const person = places.place(people[event] as number);
      // The last step first: one event is one step of a chain.
      for (let step = steps - 1; step >= 0; step -= 1) {
        if ((bits & (1 << step)) === 0) continue;
        const of = begun[step] as number[];
        const start = step === 0 ? time : begun[step - 1]?.[person];
        if (start === undefined || time - start > windowMs) continue;
        if (step === 0 && reached[person] === undefined) {
          groups[person] =
            values === null || valueIds === null ? null : (values[valueIds[event] as number] as string | null);
        }
        if (of[person] === undefined || of[person] < start) of[person] = start;
        reached[person] = Math.max(reached[person] ?? 0, step + 1);
      }
    }
    return { lines: linesOf(reached, groups, steps) };
  },
};

function linesOf(reached: readonly number[], groups: readonly (string | null)[], steps: number): FunnelLine[] {
  const lines = new Map<string | null, number[]>();
  for (let person = 0; person < reached.length; person += 1) {
    const last = reached[person];
    if (last === undefined) continue;
    const value = groups[person] ?? null;
    let counts = lines.get(value);
    if (counts === undefined) {
      counts = new Array<number>(steps).fill(0);
      lines.set(value, counts);
    }
    for (let step = 0; step < last; step += 1) counts[step] = (counts[step] as number) + 1;
  }
  const sorted = [...lines].sort(
    ([a, one], [b, two]) => (two[0] as number) - (one[0] as number) || ((a ?? '') < (b ?? '') ? -1 : 1),
  );
  const shown = sorted.slice(0, BREAKDOWN_VALUES_SHOWN).map(([value, counts]) => ({ value, isOther: false, counts }));
  const others = sorted.slice(BREAKDOWN_VALUES_SHOWN).map(([, counts]) => counts);
  if (others.length === 0) return shown;
  const counts = others.reduce((sum, each) => sum.map((count, step) => count + (each[step] as number)));
  return [...shown, { value: null, isOther: true, counts }];
}

export async function funnelOf(
  question: Question,
  asked: Pick<FunnelArgs, 'steps' | 'breakdown' | 'includeBots'> & { readonly windowMs: number },
): Promise<FunnelLine[]> {
  const { steps, breakdown, windowMs, includeBots } = asked;
  const properties = [
    ...steps.flatMap(({ filter }) => filter.map(({ property }) => property)),
    ...(breakdown === null ? [] : [breakdown]),
  ];
  const columns = [...COUNT_COLUMNS, ...(properties.length === 0 ? [] : propertyColumns(properties))];
  const args = { ...question.period, steps, breakdown, includeBots, joins: question.known.table.parts() };
  const found: Found[] = [];
  const refs = await blocksOf(question);
  for await (const part of scan(question, refs, { columns, task: findSteps, args })) found.push(...part);
  const size = found.reduce((sum, { times }) => sum + times.length, 0);
  return (await reduce(question, finishFunnel, { found, steps: steps.length, windowMs }, size)).lines;
}
