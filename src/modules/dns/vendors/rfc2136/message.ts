// DNS messages as zone transfers and updates need them (RFC 1035, RFC 2136): written for one zone, and read with every length checked.
import { nameBytes, rdataOf, TYPE_NUMBERS } from '../../records/values.ts';
import type { SetChange } from '../port.ts';

export const TSIG = 250;
const AXFR = 252;
const [IN, NONE, ANY] = [1, 254, 255] as const;
const HEADER_BYTES = 12;
const UPDATE_FLAGS = 5 << 11;
const LABELS_MAX = 128;
/** Of a message with its signature, which has 65,535 bytes at most. */
const UPDATE_BYTES_MAX = 60_000;

export interface WireRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly rdataAt: number;
  readonly endAt: number;
}

export interface Tsig {
  /** Where its record begins. */
  readonly startAt: number;
  readonly name: string;
  readonly algorithm: string;
  readonly time: number;
  readonly fudge: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
}

export interface Message {
  readonly bytes: Buffer;
  readonly id: number;
  readonly isAnswer: boolean;
  readonly rcode: number;
  readonly answers: readonly WireRecord[];
  readonly tsig: Tsig | null;
}

/** It is no message, or says what no message may. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export function transferQuery(id: number, zone: string): Buffer {
  return Buffer.concat([bytesOf(id, 0, 1, 0, 0, 0), nameBytes(zone), bytesOf(AXFR, IN)]);
}

interface Update {
  /** What must hold before it, or nothing of it is done (RFC 2136, section 2.4). */
  readonly prerequisites: readonly Buffer[];
  readonly records: readonly Buffer[];
}

/** One message where they fit into one, in the order of the changes. `isUsed`: whether a name has records now. */
export function* updatesOf(
  zone: string,
  changes: readonly SetChange[],
  now: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<(id: number) => Buffer> {
  let parts: Update[] = [];
  let bytes = 0;
  for (const change of inOrder(changes)) {
    const part = updateOf(change, now);
    const size = [...part.prerequisites, ...part.records].reduce((sum, { length }) => sum + length, 0);
    if (bytes + size > UPDATE_BYTES_MAX && parts.length > 0) {
      yield messageOf(zone, parts);
      [parts, bytes] = [[], 0];
    }
    parts.push(part);
    bytes += size;
  }
  if (parts.length > 0) yield messageOf(zone, parts);
}

/** By name, and what goes before what comes: a CNAME may take the place of other records. */
function inOrder(changes: readonly SetChange[]): readonly SetChange[] {
  const rank = ({ set }: SetChange) => (set === null ? 0 : 1);
  return changes.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : rank(a) - rank(b)));
}

function updateOf({ name, type, set }: SetChange, now: ReadonlyMap<string, ReadonlySet<string>>): Update {
  const owner = nameBytes(name);
  const number = TYPE_NUMBERS[type];
  const cleared = Buffer.concat([owner, bytesOf(number, ANY, 0, 0, 0)]);
  if (set === null) return { prerequisites: [], records: [cleared] };
  const [high, low] = [set.ttl >>> 16, set.ttl & 0xffff];
  const added = set.values.map((value) => {
    const rdata = rdataOf(type, value);
    return Buffer.concat([owner, bytesOf(number, IN, high, low, rdata.length), rdata]);
  });
  return { prerequisites: prerequisitesOf(owner, type, now.get(name)), records: [cleared, ...added] };
}

/**
 * A name server leaves out, in silence, a CNAME beside other records and others beside a CNAME (RFC 2136, section 3.4.2.2). So the update says what was
 * found before, and fails when somebody else has changed that meanwhile.
 */
function prerequisitesOf(owner: Buffer, type: string, types: ReadonlySet<string> | undefined): readonly Buffer[] {
  if (type !== 'CNAME') {
    return types?.has('CNAME') === true ? [] : [Buffer.concat([owner, bytesOf(TYPE_NUMBERS.CNAME, NONE, 0, 0, 0)])];
  }
  return types === undefined ? [Buffer.concat([owner, bytesOf(ANY, NONE, 0, 0, 0)])] : [];
}

function messageOf(zone: string, parts: readonly Update[]): (id: number) => Buffer {
  const prerequisites = new Map(
    parts.flatMap((part) => part.prerequisites).map((one) => [one.toString('latin1'), one]),
  );
  const records = parts.flatMap((part) => part.records);
  const head = [1, prerequisites.size, records.length, 0];
  return (id) =>
    Buffer.concat([
      ...[bytesOf(id, UPDATE_FLAGS, ...head), nameBytes(zone), bytesOf(TYPE_NUMBERS.SOA, IN)],
      ...[...prerequisites.values(), ...records],
    ]);
}

/** Throws Malformed. */
export function readMessage(bytes: Buffer): Message {
  if (bytes.length < HEADER_BYTES) throw new Malformed('it is too short');
  const count = (at: number) => bytes.readUInt16BE(at);
  const flags = count(2);
  let at = HEADER_BYTES;
  for (let left = count(4); left > 0; left -= 1) at = within(bytes, readNameAt(bytes, at).endAt + 4);
  const answers: WireRecord[] = [];
  let tsig: Tsig | null = null;
  const total = count(6) + count(8) + count(10);
  for (let seen = 0; seen < total; seen += 1) {
    if (tsig !== null) throw new Malformed('something follows its signature');
    const record = readRecord(bytes, at);
    if (seen < count(6)) answers.push(record);
    if (record.type === TSIG) {
      if (seen < count(6) + count(8) || record.class !== ANY || record.ttl !== 0)
        throw new Malformed('its signature is none');
      tsig = readTsig(bytes, at, record);
    }
    at = record.endAt;
  }
  return { bytes, id: count(0), isAnswer: (flags & 0x8000) !== 0, rcode: flags & 15, answers, tsig };
}

function readRecord(bytes: Buffer, startAt: number): WireRecord {
  const { name, endAt } = readNameAt(bytes, startAt);
  const rdataAt = within(bytes, endAt + 10);
  const recordEnd = within(bytes, rdataAt + bytes.readUInt16BE(endAt + 8));
  return {
    ...{ name, type: bytes.readUInt16BE(endAt), class: bytes.readUInt16BE(endAt + 2) },
    ...{ ttl: bytes.readUInt32BE(endAt + 4), rdataAt, endAt: recordEnd },
  };
}

function readTsig(bytes: Buffer, startAt: number, { name, rdataAt, endAt }: WireRecord): Tsig {
  const algorithm = readNameAt(bytes, rdataAt);
  const at = algorithm.endAt;
  within(bytes, at + 10, endAt);
  const macAt = at + 10;
  const macEnd = within(bytes, macAt + bytes.readUInt16BE(at + 8), endAt);
  within(bytes, macEnd + 6, endAt);
  const otherAt = macEnd + 6;
  return {
    ...{ startAt, name: name.toLowerCase(), algorithm: algorithm.name.toLowerCase(), time: bytes.readUIntBE(at, 6) },
    ...{ fudge: bytes.readUInt16BE(at + 6), mac: bytes.subarray(macAt, macEnd) },
    ...{ originalId: bytes.readUInt16BE(macEnd), error: bytes.readUInt16BE(macEnd + 2) },
    other: bytes.subarray(otherAt, within(bytes, otherAt + bytes.readUInt16BE(macEnd + 4), endAt)),
  };
}

/**
 * The name at a place, its labels as they are, without the last dot; `.` is the root. Pointers lead backwards only, so it ends. A label with a dot, or with
 * bytes that are no ASCII, comes out as a name that is served nowhere. Throws Malformed.
 */
export function readNameAt(bytes: Buffer, startAt: number): { name: string; endAt: number } {
  const labels: string[] = [];
  let endAt: number | null = null;
  let limit = startAt;
  for (let at = startAt; ; ) {
    const length = bytes[at];
    if (length === undefined || labels.length > LABELS_MAX) throw new Malformed('a name does not end');
    if (length === 0) return { name: labels.join('.') || '.', endAt: endAt ?? at + 1 };
    if (length >= 0xc0) {
      endAt ??= at + 2;
      const target = ((length & 0x3f) << 8) | (bytes[at + 1] ?? 0);
      if (target >= limit) throw new Malformed('a name leads forward');
      [at, limit] = [target, target];
      continue;
    }
    if (length > 63) throw new Malformed('a label is none');
    const label = bytes.toString('latin1', at + 1, within(bytes, at + 1 + length));
    labels.push(label.replaceAll(/[^!-~]|[.\\]/g, '\\'));
    at += 1 + length;
  }
}

function within(bytes: Buffer, at: number, endAt = bytes.length): number {
  if (at > endAt) throw new Malformed('it is cut');
  return at;
}

/** Numbers of 16 bits. */
export function bytesOf(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, 2 * at);
  return bytes;
}
