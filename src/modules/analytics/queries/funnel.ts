// Funnels: how many people did one thing after another, each step later than the one before, all within the window since the first.
import type { ScanTask } from '../../../blocks/block.ts';
import type { Dictionary } from '../../../blocks/columns.ts';
import { startOfDay } from '../../../lib/time.ts';
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
  /** When its day begins. */
  readonly dayMs: number;
  /** So many; what follows has room for more. */
  readonly size: number;
  /** Milliseconds since the day began. */
  readonly times: Uint32Array;
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
  const isFiltered = filters.some((filter) => filter !== null);
  const [persons, times, bots] = [events.persons(), events.times, includeBots ? null : events.bots()];
  const broken = breakdown === null ? null : events.property(breakdown);
  const found = emptyFound(events, broken);
  let size = 0;
  for (let i = 0; i < events.records; i += 1) {
    let bits = isStep[names.ids[i] as number] as number;
    const [number, time] = [persons[i] as number, times[i] as number];
    if (bits === 0 || number === 0 || bots?.[i] === 1 || time < fromMs || time >= toMs) continue;
    if (isFiltered) {
      for (let step = 0; step < filters.length; step += 1) if (filters[step]?.[i] === 0) bits &= ~(1 << step);
      if (bits === 0) continue;
    }
    const person = joins.get(number, number);
    if (person === DELETED) continue;
    found.times[size] = time - found.dayMs;
    found.people[size] = person;
    found.steps[size] = bits;
    if (found.valueIds !== null && broken !== null) found.valueIds[size] = broken.ids[i] as number;
    size += 1;
  }
  return { ...found, size };
}

function emptyFound({ blockId, fromMs, records }: StoredEvents, broken: Dictionary | null): Found {
  return {
    blockId,
    dayMs: startOfDay(fromMs),
    size: 0,
    times: new Uint32Array(sharedBytes(records * 4)),
    people: new Int32Array(sharedBytes(records * 4)),
    steps: new Uint16Array(sharedBytes(records * 2)),
    values: broken?.values.map((typed) => (typed === null ? null : plainOf(typed))) ?? null,
    valueIds: broken === null ? null : new Uint32Array(sharedBytes(records * 4)),
  };
}

/** Memory that the thread which puts all blocks together reads without a copy. */
const sharedBytes = (length: number) => new SharedArrayBuffer(length);

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

/** Below: a place in a day. Above: milliseconds of the day. Together they are exact numbers. */
const PLACES = 2 ** 26;

/** The events of a day in the order of time, of one instant in that of blocks and places: `see` gets one after the other. No block has two days. */
function eachInOrder(lists: readonly Found[], see: (of: Found, event: number) => void): void {
  const inOrder = [...lists].sort((a, b) => (a.blockId < b.blockId ? -1 : 1));
  if (isAscending(inOrder)) {
    for (const of of inOrder) for (let event = 0; event < of.size; event += 1) see(of, event);
    return;
  }
  const keys = new Float64Array(inOrder.reduce((sum, { size }) => sum + size, 0));
  const listOf = new Uint32Array(keys.length);
  const eventOf = new Uint32Array(keys.length);
  let at = 0;
  for (const [list, { times, size }] of inOrder.entries()) {
    for (let event = 0; event < size; event += 1, at += 1) {
      keys[at] = (times[event] as number) * PLACES + at;
      listOf[at] = list;
      eventOf[at] = event;
    }
  }
  for (const key of keys.sort()) {
    const place = key % PLACES;
    see(inOrder[listOf[place] as number] as Found, eventOf[place] as number);
  }
}

/** Most blocks of a day follow each other: nothing is to be sorted. */
function isAscending(lists: readonly Found[]): boolean {
  let last = -1;
  for (const { times, size } of lists) {
    if (size === 0) continue;
    if ((times[0] as number) <= last) return false;
    last = times[size - 1] as number;
  }
  return true;
}

/**
 * A person's chains, of which for each step the one is known that began last: whatever may follow, it is within the window the longest. A
 * person counts with the value that the property had at their first event of the first step.
 */
class Chains {
  readonly #steps: number;
  readonly #windowMs: number;
  readonly #places = new IntTable();
  /** Of each person and step: when the chain began that reached it; 0: none did. */
  #begun = new Float64Array(1_024);
  #reached = new Uint8Array(1_024);
  readonly #values: (string | null)[] = [];

  constructor(steps: number, windowMs: number) {
    this.#steps = steps;
    this.#windowMs = windowMs;
  }

  take({ dayMs, times, people, steps: bitsOf, values, valueIds }: Found, event: number): void {
    const [time, bits] = [dayMs + (times[event] as number), bitsOf[event] as number];
    const person = this.#places.place(people[event] as number);
    const [steps, first] = [this.#steps, person * this.#steps];
    if (first + steps > this.#begun.length || person >= this.#reached.length) this.#grow();
    const [begun, reached] = [this.#begun, this.#reached];
    // The last step first: one event is one step of a chain.
    for (let step = steps - 1; step > 0; step -= 1) {
      if ((bits & (1 << step)) === 0) continue;
      const start = begun[first + step - 1] as number;
      if (start === 0 || time - start > this.#windowMs) continue;
      if ((begun[first + step] as number) < start) begun[first + step] = start;
      if ((reached[person] as number) <= step) reached[person] = step + 1;
    }
    if ((bits & 1) === 0) return;
    begun[first] = time;
    if (reached[person] !== 0) return;
    reached[person] = 1;
    if (values !== null && valueIds !== null) this.#values[person] = values[valueIds[event] as number] as string | null;
  }

  lines(): FunnelLine[] {
    return linesOf(this.#reached, this.#values, this.#steps);
  }

  #grow(): void {
    const [begun, reached] = [this.#begun, this.#reached];
    this.#begun = new Float64Array(begun.length * 2);
    this.#begun.set(begun);
    this.#reached = new Uint8Array(reached.length * 2);
    this.#reached.set(reached);
  }
}

export const finishFunnel: ScanTask<FinishArgs, { lines: FunnelLine[] }> = {
  source: import.meta.url,
  id: 'finishFunnel',
  run(_, { found, steps, windowMs }) {
    const chains = new Chains(steps, windowMs);
    const days = [...Map.groupBy(found, ({ dayMs }) => dayMs)].sort(([a], [b]) => a - b);
    for (const [, lists] of days) eachInOrder(lists, (of, event) => chains.take(of, event));
    return { lines: chains.lines() };
  },
};

/** `reached`: of each person how many steps, 0 for none; `values`: of those with a property. */
function linesOf(reached: Uint8Array, values: readonly (string | null)[], steps: number): FunnelLine[] {
  const lines = new Map<string | null, number[]>();
  for (let person = 0; person < reached.length; person += 1) {
    const last = reached[person] as number;
    if (last === 0) continue;
    const value = values[person] ?? null;
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
    ...steps.flatMap(({ filter }) => filter.map(({ field }) => field)),
    ...(breakdown === null ? [] : [breakdown]),
  ];
  const columns = [...COUNT_COLUMNS, ...(properties.length === 0 ? [] : propertyColumns(properties))];
  const args = { ...question.period, steps, breakdown, includeBots, joins: question.known.table.parts() };
  const found: Found[] = [];
  const refs = await blocksOf(question);
  for await (const part of scan(question, refs, { columns, task: findSteps, args })) found.push(...part);
  const events = found.reduce((sum, { size }) => sum + size, 0);
  return (await reduce(question, finishFunnel, { found, steps: steps.length, windowMs }, events)).lines;
}
