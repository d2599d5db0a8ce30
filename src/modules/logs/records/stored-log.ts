// Reader of a stored block for searches: each column is unpacked on first use.
import type { StoredBlock } from '../../../blocks/block.ts';
import {
  type Dictionary,
  type Texts,
  unpackBytes,
  unpackDictionary,
  unpackIntegers,
  unpackTexts,
} from '../../../blocks/columns.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { NONE } from './interned.ts';
import { levels } from './levels.ts';

/** All that a record is shown with. */
export const ALL_COLUMNS: readonly string[] = [
  ...[
    'time',
    'seq_ms',
    'seq_low',
    'level',
    'service',
    'message',
    'message_id',
    'name',
    'shape',
    'shape_id',
    'value',
    'value_id',
  ],
  ...['trace', 'trace_id', 'span', 'span_id', 'resource', 'cut'],
];
export const TRACE_HEX = 32;
export const SPAN_HEX = 16;

export class StoredLog {
  readonly block: StoredBlock;
  readonly records: number;
  readonly #unpacked = new Map<string, unknown>();

  constructor(block: StoredBlock) {
    this.block = block;
    this.records = block.records;
  }

  get times(): Float64Array {
    return this.#once('time', unpackIntegers);
  }

  get levels(): Uint8Array {
    return this.#once('level', unpackBytes);
  }

  get services(): Dictionary {
    return this.#once('service', unpackDictionary);
  }

  get messages(): Texts {
    return this.#once('message', unpackTexts);
  }

  get messageIds(): Float64Array {
    return this.#once('message_id', unpackIntegers);
  }

  get values(): Texts {
    return this.#once('value', unpackTexts);
  }

  get names(): readonly string[] {
    return this.#once('name', (packed) => {
      const texts = unpackTexts(packed);
      return Array.from(texts.ends, (_, i) => texts.at(i));
    });
  }

  /** Numbers of names of each shape. */
  get shapes(): readonly Float64Array[] {
    return this.#once('shape', (packed) => {
      const flat = unpackIntegers(packed);
      const shapes: Float64Array[] = [];
      for (let at = 0; at < flat.length; at += (flat[at] as number) + 1) {
        shapes.push(flat.subarray(at + 1, at + 1 + (flat[at] as number)));
      }
      return shapes;
    });
  }

  get shapeIds(): Float64Array {
    return this.#once('shape_id', unpackIntegers);
  }

  /** Numbers of values, record by record as their shapes have them, and where those of each record end. */
  get attributes(): { readonly ids: Float64Array; readonly ends: Uint32Array } {
    return this.#once('value_id', (packed) => inRecords(this, unpackIntegers(packed)));
  }

  get resources(): Dictionary | null {
    return this.block.columns.has('resource') ? this.#once('resource', unpackDictionary) : null;
  }

  /** Distinct trace IDs as bytes, one behind the other. */
  get traces(): Buffer {
    return this.block.columns.has('trace') ? this.#once('trace', unpackBytes) : Buffer.alloc(0);
  }

  /** In lower-case hex; null: the record has none. */
  traceId(record: number): string | null {
    return this.#hex('trace', record, TRACE_HEX);
  }

  spanId(record: number): string | null {
    return this.#hex('span', record, SPAN_HEX);
  }

  isCut(record: number): boolean {
    return this.block.columns.has('cut') && this.#once('cut', unpackBytes)[record] === 1;
  }

  /** The record's number in the account's sequence. */
  number(record: number): bigint {
    if (!this.block.columns.has('seq_ms')) return this.block.blockId + BigInt(record);
    const ms = this.#once('seq_ms', unpackIntegers)[record] as number;
    return sequenceAt(ms) + BigInt(this.#once('seq_low', unpackIntegers)[record] as number);
  }

  /** The numbers of all records, in the parts that blocks keep. */
  numbersInto({ ms, low }: { readonly ms: number[]; readonly low: number[] }): void {
    if (this.block.columns.has('seq_ms')) {
      for (const each of this.#once('seq_ms', unpackIntegers)) ms.push(each);
      for (const each of this.#once('seq_low', unpackIntegers)) low.push(each);
      return;
    }
    const [first, last] = [this.number(0), this.number(this.records - 1)];
    const isOfOneMs = sequenceMs(first) === sequenceMs(last);
    for (let record = 0; record < this.records; record += 1) {
      ms.push(isOfOneMs ? sequenceMs(first) : sequenceMs(this.number(record)));
      low.push(isOfOneMs ? lowOf(first) + record : lowOf(this.number(record)));
    }
  }

  /** As JSON: what a search answers, byte for byte. */
  json(record: number): string {
    const resource = this.resources?.values[this.resources.ids[record] as number] ?? null;
    const text = (of: string | null) => (of === null ? 'null' : JSON.stringify(of));
    return (
      `{"timestamp":"${new Date(this.times[record] as number).toISOString()}","level":"${levels[this.levels[record] as number]}",` +
      `"service":${text(this.services.values[this.services.ids[record] as number] as string)},` +
      `"message":${text(this.messages.at(this.messageIds[record] as number))},"attributes":{${this.#attributesJson(record)}},` +
      `${resource === null ? '' : `"resource":${resource},`}${this.isCut(record) ? '"is_cut":true,' : ''}` +
      `"trace_id":${text(this.traceId(record))},"span_id":${text(this.spanId(record))}}`
    );
  }

  /** Calls `see` with number of name and number of value of each attribute, in order. */
  eachAttribute(record: number, see: (name: number, value: number) => void): void {
    const { ids, ends } = this.attributes;
    const shape = this.shapes[this.shapeIds[record] as number] as Float64Array;
    const start = (ends[record] as number) - shape.length;
    for (let i = 0; i < shape.length; i += 1) see(shape[i] as number, ids[start + i] as number);
  }

  #attributesJson(record: number): string {
    const parts: string[] = [];
    this.eachAttribute(record, (name, value) => {
      const typed = this.values.at(value);
      const json = typed.charCodeAt(0) === 34 ? JSON.stringify(typed.slice(1)) : typed;
      parts.push(`${JSON.stringify(this.names[name])}:${json}`);
    });
    return parts.join(',');
  }

  /** The number of the ID of a record among those of its block; `NONE`: it has none. */
  idAt(column: 'trace' | 'span', record: number): number {
    if (!this.block.columns.has(column)) return NONE;
    return (this.#once(`${column}_id`, unpackIntegers)[record] as number) - 1;
  }

  #hex(column: 'trace' | 'span', record: number, digits: number): string | null {
    const id = this.idAt(column, record);
    if (id === NONE) return null;
    const bytes = digits / 2;
    return this.#once(column, unpackBytes).toString('hex', id * bytes, (id + 1) * bytes);
  }

  #once<Column>(name: string, unpack: (packed: Uint8Array) => Column): Column {
    let column = this.#unpacked.get(name) as Column | undefined;
    if (column === undefined) {
      const packed = this.block.columns.get(name);
      if (packed === undefined) throw new Error(`a block of logs has no column ${name}`);
      column = unpack(packed);
      this.#unpacked.set(name, column);
    }
    return column;
  }
}

/** Stored are the values of the first name, then those of the second. */
function inRecords(log: StoredLog, byName: Float64Array) {
  const { shapes, shapeIds } = log;
  const next = new Float64Array(log.names.length + 1);
  for (const id of shapeIds)
    for (const name of shapes[id] as Float64Array) next[name + 1] = (next[name + 1] as number) + 1;
  for (let name = 1; name < next.length; name += 1) next[name] = (next[name] as number) + (next[name - 1] as number);
  const ids = new Float64Array(byName.length);
  const ends = new Uint32Array(shapeIds.length);
  let at = 0;
  for (let record = 0; record < shapeIds.length; record += 1) {
    for (const name of shapes[shapeIds[record] as number] as Float64Array) {
      const from = next[name] as number;
      next[name] = from + 1;
      ids[at] = byName[from] as number;
      at += 1;
    }
    ends[record] = at;
  }
  return { ids, ends };
}

export const lowOf = (number: bigint) => Number(number - sequenceAt(sequenceMs(number)));
