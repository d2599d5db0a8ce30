// Record sets out of the records of a zone transfer. What is of another type, or has a value that is not served, stays as it is at the name server and
// is not shown.
import { setImmediate as turn } from 'node:timers/promises';
import { liesIn, readName } from '../../records/names.ts';
import type { RecordSet } from '../../records/sets.ts';
import { BadValue } from '../../records/tokens.ts';
import { type RecordType, readValue, TYPE_NUMBERS } from '../../records/values.ts';
import { Malformed, readNameAt, type WireRecord } from './message.ts';

const RECORDS_PER_TURN = 500;
const types = new Map<number, RecordType | 'SOA'>(
  Object.entries(TYPE_NUMBERS).map(([type, number]) => [number, type as RecordType | 'SOA']),
);
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
    const type = types.get(record.type);
    if (this.#soas === 2 || (this.#soas === 0 && type !== 'SOA')) throw new Malformed('it is no zone');
    if (type === 'SOA') {
      this.#soas += 1;
      return;
    }
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
function storedValue(bytes: Buffer, type: RecordType, { rdataAt, endAt }: WireRecord): string | null {
  const host = (at: number) => readNameAt(bytes, at).name;
  const number = (at: number) => bytes.readUInt16BE(at);
  const least = { A: 4, AAAA: 16, MX: 3, SRV: 7, CAA: 2 }[type as 'A'] ?? 1;
  if (endAt - rdataAt < least) throw new Malformed('a record is too short');
  try {
    switch (type) {
      case 'A':
        return readValue(type, bytes.subarray(rdataAt, rdataAt + 4).join('.'));
      case 'AAAA':
        return readValue(
          type,
          bytes
            .toString('hex', rdataAt, rdataAt + 16)
            .match(/.{4}/g)
            ?.join(':') ?? '',
        );
      case 'MX':
        return readValue(type, `${number(rdataAt)} ${host(rdataAt + 2)}`);
      case 'SRV':
        return readValue(type, `${[0, 2, 4].map((at) => number(rdataAt + at)).join(' ')} ${host(rdataAt + 6)}`);
      case 'TXT':
        return textOf(bytes, rdataAt, endAt);
      case 'CAA': {
        const valueAt = rdataAt + 2 + (bytes[rdataAt + 1] ?? 0);
        const [tag, value] = [bytes.toString('latin1', rdataAt + 2, valueAt), bytes.toString('latin1', valueAt, endAt)];
        return readValue(type, `${bytes[rdataAt]} ${tag} "${value}"`);
      }
      default:
        return readValue(type, host(rdataAt));
    }
  } catch (error) {
    if (error instanceof BadValue) return null;
    throw error;
  }
}

/** The pieces joined; null: it is no UTF-8. */
function textOf(bytes: Buffer, startAt: number, endAt: number): string | null {
  const pieces: Buffer[] = [];
  for (let at = startAt; at < endAt; ) {
    const next = at + 1 + (bytes[at] ?? 0);
    if (next > endAt) throw new Malformed('a text is cut');
    pieces.push(bytes.subarray(at + 1, next));
    at = next;
  }
  try {
    return utf8.decode(Buffer.concat(pieces));
  } catch {
    return null;
  }
}
