// Column encoding of a block of records. Messages and values are dictionaries, IDs are bytes. Attributes are stored by shape (the names of a
// record, in order) and by name, so values of one name are adjacent and compress well.
import type { BlockDraft } from '../../../blocks/block.ts';
import { packBytes, packDictionary, packIntegers, packTexts } from '../../../blocks/columns.ts';
import { Marks } from '../../../blocks/marks.ts';
import { type LogBatch, plainOf } from './batch.ts';
import { NONE } from './interned.ts';
import { markAttribute, markResource, serviceMark, traceMark, WordMarks } from './marks.ts';
import { packSummary } from './summary.ts';

/** Numbers of the account's sequence, one a record, in two parts (lib/sequence.ts). */
export interface RecordNumbers {
  readonly ms: readonly number[];
  readonly low: readonly number[];
}

/**
 * The records `order` of a batch, in this order, which is that of their times, all in one span. `numbers`: of all records of the batch; null: each is
 * the block's ID and its place in the block.
 */
export function packRecords(batch: LogBatch, order: readonly number[], numbers: RecordNumbers | null): BlockDraft {
  const of = <T>(column: readonly T[]) => order.map((i) => column[i] as T);
  const times = of(batch.times);
  const levels = of(batch.levels);
  const services = of(batch.services).map((id) => batch.serviceTexts.texts[id] as string);
  const marks = new Marks();
  const words = new WordMarks(marks);
  const columns = new Map<string, Buffer>([
    ['time', packIntegers(times)],
    ['level', packBytes(Uint8Array.from(levels))],
    ['service', packDictionary(services)],
  ]);
  if (numbers !== null) {
    columns.set('seq_ms', packIntegers(of(numbers.ms)));
    columns.set('seq_low', packIntegers(of(numbers.low)));
  }
  for (const message of packUsed(columns, 'message', of(batch.messages), batch.messageTexts.texts)) words.add(message);
  const names = packAttributes(columns, batch, order, marks, words);
  for (const id of packIds(columns, 'trace', of(batch.traces), batch.traceTexts.texts)) marks.addNew(traceMark(id));
  packIds(columns, 'span', of(batch.spans), batch.spanTexts.texts);
  packResources(columns, of(batch.resources), batch.resourceTexts.texts, marks);
  if (order.some((i) => batch.cuts[i])) columns.set('cut', packBytes(Uint8Array.from(of(batch.cuts), Number)));
  const countsOfServices = new Map<string, number>();
  for (const service of services) countsOfServices.set(service, (countsOfServices.get(service) ?? 0) + 1);
  for (const service of countsOfServices.keys()) marks.add(serviceMark(service));
  return {
    fromMs: times[0] as number,
    toMs: times.at(-1) as number,
    records: order.length,
    summary: packSummary(times, levels, countsOfServices, names),
    marks: marks.pack(),
    columns,
  };
}

/** Numbers in the order of their first use. */
class Renumbered {
  readonly used: number[] = [];
  readonly #ids: Int32Array;

  constructor(size: number) {
    this.#ids = new Int32Array(size).fill(NONE);
  }

  id(old: number): number {
    const known = this.#ids[old] as number;
    if (known !== NONE) return known;
    this.#ids[old] = this.used.length;
    this.used.push(old);
    return this.used.length - 1;
  }
}

/** Texts, each once, as `name`, and which stands where as `name_id`. Answers those that are used. */
function packUsed(
  columns: Map<string, Buffer>,
  name: string,
  ids: readonly number[],
  texts: readonly string[],
): string[] {
  const renumbered = new Renumbered(texts.length);
  columns.set(`${name}_id`, packIntegers(ids.map((id) => renumbered.id(id))));
  const used = renumbered.used.map((id) => texts[id] as string);
  columns.set(name, packTexts(used));
  return used;
}

/** The same of IDs in hex, which are packed as bytes; 0 where there is none, else one more than its place. */
function packIds(columns: Map<string, Buffer>, name: string, ids: readonly number[], hex: readonly string[]): string[] {
  if (ids.every((id) => id === NONE)) return [];
  const renumbered = new Renumbered(hex.length);
  columns.set(`${name}_id`, packIntegers(ids.map((id) => (id === NONE ? 0 : renumbered.id(id) + 1))));
  const used = renumbered.used.map((id) => hex[id] as string);
  columns.set(name, packBytes(Buffer.from(used.join(''), 'hex')));
  return used;
}

function packResources(
  columns: Map<string, Buffer>,
  ids: readonly number[],
  texts: readonly string[],
  marks: Marks,
): void {
  if (ids.every((id) => id === NONE)) return;
  columns.set('resource', packDictionary(ids.map((id) => (id === NONE ? null : (texts[id] as string)))));
  for (const id of new Set(ids)) if (id !== NONE) markResource(marks, texts[id] as string);
}

/** Answers how many records have each name. */
function packAttributes(
  columns: Map<string, Buffer>,
  batch: LogBatch,
  order: readonly number[],
  marks: Marks,
  words: WordMarks,
): Map<string, number> {
  const names = new Renumbered(batch.nameTexts.texts.length);
  const shapes = new Shapes();
  const shapeIds: number[] = [];
  const valuesOf: number[][] = [];
  for (const i of order) {
    const end = batch.ends[i] as number;
    shapes.begin();
    for (let at = i === 0 ? 0 : (batch.ends[i - 1] as number); at < end; at += 1) {
      const name = names.id(batch.names[at] as number);
      shapes.add(name);
      if (name === valuesOf.length) valuesOf.push([]);
      (valuesOf[name] as number[]).push(batch.values[at] as number);
    }
    shapeIds.push(shapes.end());
  }
  const texts = names.used.map((id) => batch.nameTexts.texts[id] as string);
  const values = new Renumbered(batch.valueTexts.texts.length);
  const valueIds: number[] = [];
  for (const [name, ids] of valuesOf.entries()) {
    for (const id of ids) valueIds.push(values.id(id));
    for (const id of new Set(ids)) markAttribute(marks, texts[name] as string, batch.valueTexts.texts[id] as string);
  }
  const usedValues = values.used.map((id) => batch.valueTexts.texts[id] as string);
  for (const value of usedValues) words.add(plainOf(value));
  columns.set('name', packTexts(texts));
  columns.set('shape', packIntegers(shapes.flat));
  columns.set('shape_id', packIntegers(shapeIds));
  columns.set('value', packTexts(usedValues));
  columns.set('value_id', packIntegers(valueIds));
  return new Map(texts.map((text, name) => [text, (valuesOf[name] as number[]).length]));
}

/** Lists of names, each once: found in a tree, a step a name. */
class Shapes {
  /** Of each shape how many names it has, and which. */
  readonly flat: number[] = [];
  readonly #steps = new Map<number, number>();
  readonly #idOfNode: number[] = [];
  #nodes = 1;
  #node = 0;
  #names: number[] = [];
  #size = 0;

  begin(): void {
    this.#node = 0;
    this.#names = [];
  }

  add(name: number): void {
    // Nodes and names are each fewer than 2^21.
    const step = this.#node * 2 ** 21 + name;
    let next = this.#steps.get(step);
    if (next === undefined) {
      next = this.#nodes;
      this.#nodes += 1;
      this.#steps.set(step, next);
    }
    this.#node = next;
    this.#names.push(name);
  }

  end(): number {
    const known = this.#idOfNode[this.#node];
    if (known !== undefined) return known;
    this.#idOfNode[this.#node] = this.#size;
    this.flat.push(this.#names.length, ...this.#names);
    this.#size += 1;
    return this.#size - 1;
  }
}
