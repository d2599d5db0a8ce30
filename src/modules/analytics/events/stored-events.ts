// A stored block of events; each column is unpacked when it is first used.
import type { StoredBlock } from '../../../blocks/block.ts';
import {
  type Dictionary,
  type Texts,
  unpackBytes,
  unpackDictionary,
  unpackIntegers,
  unpackTexts,
} from '../../../blocks/columns.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { uuidText } from '../intake/uuid.ts';
import { COLUMN, jsonOf, REST, typedText } from './property-columns.ts';

/** What a question about counts needs beside its properties. */
export const COUNT_COLUMNS = ['name', 'person', 'bot', 'time'];

export function propertyColumns(properties: Iterable<string>): string[] {
  return [REST, ...[...new Set(properties)].map((name) => `${COLUMN}${name}`)];
}

const none: Dictionary = { values: [null], ids: new Uint32Array(0) };

export class StoredEvents {
  readonly records: number;
  readonly blockId: bigint;
  readonly fromMs: number;
  readonly toMs: number;
  readonly #columns: ReadonlyMap<string, Uint8Array>;
  #times: Float64Array | null = null;
  #rest: Texts | null | undefined;

  constructor({ blockId, fromMs, toMs, records, columns }: StoredBlock) {
    this.blockId = blockId;
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.records = records;
    this.#columns = columns;
  }

  get times(): Float64Array {
    this.#times ??= unpackIntegers(this.#column('time'));
    return this.#times;
  }

  names(): Dictionary {
    return unpackDictionary(this.#column('name'));
  }

  persons(): Float64Array {
    return unpackIntegers(this.#column('person'));
  }

  bots(): Uint8Array | null {
    const bots = this.#columns.get('bot');
    return bots === undefined ? null : unpackBytes(bots);
  }

  uuids(): Uint8Array | null {
    const uuids = this.#columns.get('uuid');
    return uuids === undefined ? null : unpackBytes(uuids);
  }

  /** Which events have a UUID; null: all, or none. */
  sentUuids(): Uint8Array | null {
    const sent = this.#columns.get('sent');
    return sent === undefined ? null : unpackBytes(sent);
  }

  numbers(): BigInt64Array {
    const ms = this.#columns.get('seq_ms');
    const numbers = new BigInt64Array(this.records);
    if (ms === undefined) {
      for (let i = 0; i < this.records; i += 1) numbers[i] = this.blockId + BigInt(i);
      return numbers;
    }
    const times = unpackIntegers(ms);
    const low = unpackIntegers(this.#column('seq_low'));
    for (let i = 0; i < this.records; i += 1) numbers[i] = sequenceAt(times[i] as number) + BigInt(low[i] as number);
    return numbers;
  }

  rest(): Texts | null {
    if (this.#rest === undefined) {
      const rest = this.#columns.get(REST);
      this.#rest = rest === undefined ? null : unpackTexts(rest);
    }
    return this.#rest;
  }

  /** Names and columns of the frequent properties that were read. */
  *dictionaries(): Generator<readonly [name: string, column: Dictionary]> {
    for (const [name, packed] of this.#columns) {
      if (name.startsWith(COLUMN)) yield [name.slice(COLUMN.length), unpackDictionary(packed)];
    }
  }

  /** Typed values of a property, and which of them each event has; null: none. */
  property(name: string): Dictionary {
    const packed = this.#columns.get(`${COLUMN}${name}`);
    return packed === undefined ? this.#fromRest(name) : unpackDictionary(packed);
  }

  /** A name stands in a column of its own or among the others, never in both. */
  #fromRest(name: string): Dictionary {
    const rest = this.rest();
    if (rest === null || !rest.joined.includes(JSON.stringify(name)))
      return { ...none, ids: new Uint32Array(this.records) };
    const values: (string | null)[] = [null];
    const places = new Map<string, number>();
    const ids = new Uint32Array(this.records);
    for (let i = 0; i < this.records; i += 1) {
      const object = objectOf(rest.at(i));
      if (object === null || !Object.hasOwn(object, name)) continue;
      const typed = typedText(object[name]);
      let place = places.get(typed);
      if (place === undefined) {
        place = values.length;
        values.push(typed);
        places.set(typed, place);
      }
      ids[i] = place;
    }
    return { values, ids };
  }

  #column(name: string): Uint8Array {
    const column = this.#columns.get(name);
    if (column === undefined) throw new Error(`block ${this.blockId} has no column ${name}`);
    return column;
  }
}

export function objectOf(json: string): Readonly<Record<string, unknown>> | null {
  return json === '' ? null : (JSON.parse(json) as Readonly<Record<string, unknown>>);
}

/** JSON of the properties of single events, in the order of their names. */
export class StoredProperties {
  readonly #events: StoredEvents;
  readonly #columns: readonly (readonly [name: string, column: Dictionary])[];

  constructor(events: StoredEvents) {
    this.#events = events;
    this.#columns = [...events.dictionaries()];
  }

  json(event: number): string {
    const members: [name: string, json: string][] = [];
    for (const [name, { values, ids }] of this.#columns) {
      const typed = values[ids[event] as number];
      if (typeof typed === 'string') members.push([name, jsonOf(typed)]);
    }
    for (const [name, value] of Object.entries(objectOf(this.#events.rest()?.at(event) ?? '') ?? {})) {
      members.push([name, JSON.stringify(value)]);
    }
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
  }
}

/** The UUID of an event as text; null: none was sent. */
export function uuidAt(uuids: Uint8Array | null, sent: Uint8Array | null, event: number): string | null {
  return uuids === null || sent?.[event] === 0 ? null : uuidText(uuids, event * 16);
}
