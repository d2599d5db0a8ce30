// Codec of DNS messages (RFC 1035, section 4; EDNS: RFC 6891), for serving zones, changing them elsewhere, and look-ups. Every length is
// checked, and a pointer leads backwards only, so that reading ends whatever the bytes are.

/** Numbers of types (IANA, DNS parameters). */
export const TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const;
export const CLASSES = { IN: 1, NONE: 254, ANY: 255 } as const;
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const;
export type Rcode = keyof typeof RCODES;

export const FLAGS = {
  response: 0x8000,
  opcode: 0x7800,
  update: 5 << 11,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  authenticData: 0x0020,
  rcode: 0x000f,
} as const;

export const HEADER_BYTES = 12;
const NAME_BYTES_MAX = 255;
const LABEL_BYTES_MAX = 63;
const POINTER = 0xc0;
/** Bytes of a label that no name of ours has: a dot within it, and what is not to be printed. */
const STRANGE = /[^!-~]|[.\\]/g;

const typeNames = new Map<number, string>(Object.entries(TYPES).map(([name, number]) => [number, name]));
const rcodeNames = new Map<number, string>(Object.entries(RCODES).map(([name, number]) => [number, name]));

/** A number without a name is written as RFC 3597 has it, section 5. */
export function typeName(type: number): string {
  return typeNames.get(type) ?? `TYPE${type}`;
}

export function rcodeName(rcode: number): string {
  return rcodeNames.get(rcode) ?? `RCODE_${rcode}`;
}

/** It is no message, or says what no message may. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export interface Header {
  readonly id: number;
  readonly flags: number;
  /** How many there are. */
  readonly questions: number;
  readonly answers: number;
  readonly authority: number;
  readonly additional: number;
}

export interface Question {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly endAt: number;
}

/** Where a record stands in its message, and what it is of. */
export interface WireRecord {
  readonly startAt: number;
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly rdataAt: number;
  readonly endAt: number;
}

export interface Message {
  readonly bytes: Buffer;
  readonly header: Header;
  readonly isAnswer: boolean;
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly WireRecord[];
  readonly authority: readonly WireRecord[];
  readonly additional: readonly WireRecord[];
}

/** `followed`: a name may end with a pointer. `refused`: one that does cannot be read, so that reading is linear in the bytes. */
export type Pointers = 'followed' | 'refused';

/** Null: it is too short. */
export function readHeader(bytes: Buffer): Header | null {
  if (bytes.length < HEADER_BYTES) return null;
  return {
    id: bytes.readUInt16BE(0),
    flags: bytes.readUInt16BE(2),
    questions: bytes.readUInt16BE(4),
    answers: bytes.readUInt16BE(6),
    authority: bytes.readUInt16BE(8),
    additional: bytes.readUInt16BE(10),
  };
}

/**
 * The name at a place, in lower case and without the last dot; `.` is the root. Null: it cannot be read. What a label may not have comes out as `?`, so
 * such a name is none of ours.
 */
export function nameAt(
  bytes: Buffer,
  startAt: number,
  pointers: Pointers = 'followed',
): { readonly name: string; readonly endAt: number } | null {
  let name = '';
  let size = 0;
  let endAt: number | null = null;
  let limit = startAt;
  for (let at = startAt; ; ) {
    const length = bytes[at];
    if (length === undefined) return null;
    if (length === 0) return { name: name === '' ? '.' : name.toLowerCase(), endAt: endAt ?? at + 1 };
    if (length >= POINTER) {
      const target = ((length & 0x3f) << 8) | (bytes[at + 1] ?? 0);
      if (pointers === 'refused' || at + 2 > bytes.length || target >= limit) return null;
      endAt ??= at + 2;
      [at, limit] = [target, target];
      continue;
    }
    size += 1 + length;
    const labelEnd = at + 1 + length;
    if (length > LABEL_BYTES_MAX || labelEnd > bytes.length || size >= NAME_BYTES_MAX) return null;
    const label = bytes.toString('latin1', at + 1, labelEnd).replaceAll(STRANGE, '?');
    name = name === '' ? label : `${name}.${label}`;
    at = labelEnd;
  }
}

/** Null: it cannot be read. */
export function questionAt(bytes: Buffer, startAt: number, pointers: Pointers = 'followed'): Question | null {
  const named = nameAt(bytes, startAt, pointers);
  if (named === null || named.endAt + 4 > bytes.length) return null;
  const { name, endAt } = named;
  return { name, type: bytes.readUInt16BE(endAt), class: bytes.readUInt16BE(endAt + 2), endAt: endAt + 4 };
}

/** Null: it cannot be read. */
export function recordAt(bytes: Buffer, startAt: number, pointers: Pointers = 'followed'): WireRecord | null {
  const named = nameAt(bytes, startAt, pointers);
  if (named === null || named.endAt + 10 > bytes.length) return null;
  const { name, endAt: at } = named;
  const rdataAt = at + 10;
  const endAt = rdataAt + bytes.readUInt16BE(at + 8);
  if (endAt > bytes.length) return null;
  return {
    startAt,
    name,
    type: bytes.readUInt16BE(at),
    class: bytes.readUInt16BE(at + 2),
    ttl: bytes.readUInt32BE(at + 4),
    rdataAt,
    endAt,
  };
}

/**
 * A whole message. Throws Malformed.
 * @param answersMax of a stranger's message: no more of its answers are read, and nothing after them.
 */
export function readMessage(bytes: Buffer, answersMax = Number.POSITIVE_INFINITY): Message {
  const header = readHeader(bytes);
  if (header === null) throw new Malformed('it is too short');
  let at = HEADER_BYTES;
  const take = <Part extends { readonly endAt: number }>(
    count: number,
    partAt: (bytes: Buffer, at: number) => Part | null,
    what: string,
  ): Part[] => {
    const parts: Part[] = [];
    while (parts.length < count) {
      const part = partAt(bytes, at);
      if (part === null) throw new Malformed(`${what} cannot be read`);
      parts.push(part);
      at = part.endAt;
    }
    return parts;
  };
  const isWhole = answersMax === Number.POSITIVE_INFINITY;
  return {
    bytes,
    header,
    isAnswer: (header.flags & FLAGS.response) !== 0,
    rcode: header.flags & FLAGS.rcode,
    questions: take(header.questions, questionAt, 'a question'),
    answers: take(Math.min(header.answers, answersMax), recordAt, 'a record'),
    authority: take(isWhole ? header.authority : 0, recordAt, 'a record'),
    additional: take(isWhole ? header.additional : 0, recordAt, 'a record'),
  };
}

/** Numbers of 16 bits. */
export function uint16s(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, 2 * at);
  return bytes;
}

/** Of a message; counts that are not given are 0. */
export function headerBytes({
  id,
  flags,
  questions = 0,
  answers = 0,
  authority = 0,
  additional = 0,
}: Pick<Header, 'id' | 'flags'> & Partial<Header>): Buffer {
  return uint16s(id, flags, questions, answers, authority, additional);
}

/** A name as `readName` of records answers it; `.` is the root. */
export function nameBytes(name: string): Buffer {
  if (name === '.') return Buffer.of(0);
  const bytes = Buffer.allocUnsafe(name.length + 2);
  let at = 0;
  for (const label of name.split('.')) {
    bytes[at] = label.length;
    at += 1 + bytes.write(label, at + 1, 'latin1');
  }
  bytes[at] = 0;
  return bytes;
}

export function questionBytes(name: string, type: number): Buffer {
  return Buffer.concat([nameBytes(name), uint16s(type, CLASSES.IN)]);
}

/** A record without its name: type, class, ttl, length and rdata. */
export function recordBody(type: number, ttl: number, rdata: Buffer, recordClass: number = CLASSES.IN): Buffer {
  const body = Buffer.allocUnsafe(10 + rdata.length);
  body.writeUInt16BE(type, 0);
  body.writeUInt16BE(recordClass, 2);
  body.writeUInt32BE(ttl, 4);
  body.writeUInt16BE(rdata.length, 8);
  rdata.copy(body, 10);
  return body;
}

export const NO_RDATA = Buffer.alloc(0);

/** The record of EDNS; `rcode`: the bits of it that the header has no room for go here. */
export function optRecord(payloadBytes: number, rcode = 0): Buffer {
  const body = recordBody(TYPES.OPT, (rcode >> 4) << 24, NO_RDATA, payloadBytes);
  return Buffer.concat([nameBytes('.'), body]);
}
