// Record sets from a zone transfer. Records of other types, or with a value that is not served, stay unchanged at the name server and are not
// shown.
import { setImmediate as turn } from 'node:timers/promises';
import { liesIn, readName } from '../../records/names.ts';
import type { RecordSet } from '../../records/sets.ts';
import { BadValue } from '../../records/tokens.ts';
import { type RecordType, readValue, recordTypes } from '../../records/values.ts';
import { Malformed, TYPES, type WireRecord } from '../../wire/message.ts';
import { rdataText, textBytes } from '../../wire/rdata.ts';

const RECORDS_PER_TURN = 500;
const types = new Map(recordTypes.map((type) => [TYPES[type] as number, type]));
const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Growing {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly values: string[];
}

/** Grows by the messages of a transfer. */
export class TransferredZone {
  readonly #zone: string;
  readonly #sets = new Map<string, Growing>();
  /** Types by name, those that are not served as `?`. */
  readonly types = new Map<string, Set<string>>();
  #seen = 0;
  #soas = 0;

  constructor(zone: string) {
    this.#zone = zone;
  }

  get seen(): number {
    return this.#seen;
  }

  /** It ends as it began: with the SOA record (RFC 5936, section 2.2). */
  get isWhole(): boolean {
    return this.#soas === 2;
  }

  get nameServers(): readonly string[] {
    return [...(this.#sets.get(`${this.#zone} NS`)?.values ?? [])].sort();
  }

  get sets(): readonly RecordSet[] {
    return [...this.#sets.values()]
      .filter(({ name, type }) => type !== 'NS' || name !== this.#zone)
      .sort((a, b) => (a.name === b.name ? (a.type < b.type ? -1 : 1) : a.name < b.name ? -1 : 1));
  }

  async take(bytes: Buffer, records: readonly WireRecord[]): Promise<void> {
    for (const record of records) {
      this.#take(bytes, record);
      if (this.#seen % RECORDS_PER_TURN === 0) await turn();
    }
  }

  #take(bytes: Buffer, record: WireRecord): void {
    this.#seen += 1;
    const isSoa = record.type === TYPES.SOA;
    if (this.#soas === 2 || (this.#soas === 0 && !isSoa)) throw new Malformed('it is no zone');
    if (isSoa) {
      this.#soas += 1;
      return;
    }
    const type = types.get(record.type);
    const name = readName(record.name);
    if (name === null || !liesIn(name, this.#zone)) return;
    const value = type === undefined ? null : storedValue(bytes, type, record);
    const beside = this.types.get(name) ?? new Set();
    this.types.set(name, beside.add(type ?? '?'));
    if (type === undefined || value === null) return;
    const key = `${name} ${type}`;
    const set = this.#sets.get(key) ?? { name, type, ttl: record.ttl, values: [] };
    this.#sets.set(key, set);
    set.values.push(value);
  }
}

/** In the form that is stored; null: it has none. Throws Malformed. */
function storedValue(bytes: Buffer, type: RecordType, record: WireRecord): string | null {
  if (type === 'TXT') return storedText(textBytes(bytes, record));
  try {
    return readValue(type, rdataText(bytes, record));
  } catch (error) {
    if (error instanceof BadValue) return null;
    throw error;
  }
}

/** Null: it is no UTF-8. */
function storedText(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
