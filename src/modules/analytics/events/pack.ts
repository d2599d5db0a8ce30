// Block encoding of events. Columns: `time`, `name`, `person` (a number; 0 for a duplicate, or when its person was deleted), `bot`, `uuid` and
// `sent` (whether there is one), `seq_ms` and `seq_low` (its number in the account's sequence; absent: its block's ID and its place), then the
// properties.
import type { BlockDraft } from '../../../blocks/block.ts';
import { packBytes, packDictionary, packIntegers, packTexts } from '../../../blocks/columns.ts';
import { Marks } from '../../../blocks/marks.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { SPAN_MS } from '../limits.ts';
import { PropertyColumns, REST } from './property-columns.ts';
import { packSummary } from './summary.ts';

/** Values of events, in the order of time. */
export interface EventColumns {
  readonly times: Float64Array;
  readonly names: readonly string[];
  readonly nameOf: Uint32Array;
  readonly bots: Uint8Array;
  readonly uuids: Uint8Array;
  readonly hasUuid: Uint8Array;
}

/** Events from `start` until before `end`, all of one span. */
export interface PackedPart {
  readonly start: number;
  readonly end: number;
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

/** A sequence number in two parts, each an exact number. */
export interface Numbers {
  readonly ms: Float64Array;
  readonly low: Float64Array;
}

const LOW = 2n ** 22n;

export function numbersOf(seqs: readonly bigint[]): Numbers {
  return { ms: Float64Array.from(seqs, sequenceMs), low: Float64Array.from(seqs, (seq) => Number(seq % LOW)) };
}

export const eventMark = (name: string) => `e${name}`;
export const personMark = (number: number) => `n${number}`;

/** Where spans begin and end among times that ascend. */
export function spansOf(times: Float64Array): [start: number, end: number][] {
  const spans: [number, number][] = [];
  let span = Number.NaN;
  for (let i = 0; i < times.length; i += 1) {
    const of = Math.floor((times[i] as number) / SPAN_MS);
    if (of !== span) spans.push([i, i]);
    (spans.at(-1) as [number, number])[1] = i + 1;
    span = of;
  }
  return spans;
}

/** All but the people, who are known in the commit. */
export function packParts(
  events: EventColumns,
  taken: readonly { readonly properties: Readonly<Record<string, unknown>> }[],
): PackedPart[] {
  return spansOf(events.times).map(([start, end]) => {
    const properties = new PropertyColumns();
    const order = new Int32Array(end - start);
    for (let i = start; i < end; i += 1) {
      order[i - start] = i - start;
      properties.addObject(i - start, (taken[i] as (typeof taken)[number]).properties);
    }
    return {
      start,
      end,
      columns: new Map([...packFixed(slice(events, start, end)), ...properties.pack(order, order.length)]),
    };
  });
}

/** Events of one span with their properties as JSON objects, empty for none: of few it is the shortest way. */
export function packFew(
  events: EventColumns,
  persons: Int32Array,
  properties: readonly string[],
  numbers: Numbers | null,
): BlockDraft {
  const columns = packFixed(events);
  if (properties.some((json) => json !== '')) columns.set(REST, packTexts(properties));
  return draftOf(events, persons, numbers, columns, false);
}

/** A part that is packed, with the people of its events. */
export function packPeople(events: EventColumns, { start, end, columns }: PackedPart, persons: Int32Array): BlockDraft {
  return draftOf(slice(events, start, end), persons.subarray(start, end), null, columns, false);
}

export function packMerged(
  events: EventColumns,
  persons: Int32Array,
  numbers: Numbers,
  properties: ReadonlyMap<string, Uint8Array>,
): BlockDraft {
  return draftOf(events, persons, numbers, new Map([...packFixed(events), ...properties]), true);
}

function packFixed({ times, names, nameOf, bots, uuids, hasUuid }: EventColumns): Map<string, Uint8Array> {
  const columns = new Map<string, Uint8Array>([
    ['time', packIntegers(times)],
    ['name', packDictionary(Array.from(nameOf, (name) => names[name] as string))],
  ]);
  if (bots.includes(1)) columns.set('bot', packBytes(bots));
  if (hasUuid.includes(1)) columns.set('uuid', packBytes(uuids));
  if (hasUuid.includes(1) && hasUuid.includes(0)) columns.set('sent', packBytes(hasUuid));
  return columns;
}

function draftOf(
  events: EventColumns,
  persons: Int32Array,
  numbers: Numbers | null,
  packed: ReadonlyMap<string, Uint8Array>,
  isMarked: boolean,
): BlockDraft {
  const { times, names, nameOf, bots } = events;
  const columns = new Map(packed);
  columns.set('person', packIntegers(persons));
  if (numbers !== null) {
    columns.set('seq_ms', packIntegers(numbers.ms));
    columns.set('seq_low', packIntegers(numbers.low));
  }
  return {
    fromMs: times[0] as number,
    toMs: times.at(-1) as number,
    records: times.length,
    summary: packSummary(times, names, nameOf, bots, persons),
    marks: isMarked ? marksOf(events, persons) : Buffer.alloc(0),
    columns,
  };
}

function marksOf({ names, nameOf }: EventColumns, persons: Int32Array): Buffer {
  const marks = new Marks();
  for (const name of new Set(nameOf)) marks.add(eventMark(names[name] as string));
  for (const person of new Set(persons)) marks.add(personMark(person));
  return marks.pack();
}

function slice({ names, ...of }: EventColumns, start: number, end: number): EventColumns {
  return {
    names,
    times: of.times.subarray(start, end),
    nameOf: of.nameOf.subarray(start, end),
    bots: of.bots.subarray(start, end),
    uuids: of.uuids.subarray(start * 16, end * 16),
    hasUuid: of.hasUuid.subarray(start, end),
  };
}
