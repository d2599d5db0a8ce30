// Messages of DNS as a name server reads and writes them (RFC 1035, section 4; EDNS: RFC 6891). Of a query only the question and OPT count; its
// names have no pointers, so reading one is linear in its bytes.

export const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const;
export type Rcode = keyof typeof RCODES;

export const TYPE_ANY = 255;
const TYPE_OPT = 41;
export const CLASS_IN = 1;
const HEADER_BYTES = 12;
const OPT_BYTES = 11;
const NAME_BYTES_MAX = 255;
const LABEL_BYTES_MAX = 63;
/** More by UDP may arrive in pieces, or not at all (DNS flag day 2020). */
export const UDP_BYTES_MAX = 1_232;
const PLAIN_UDP_BYTES_MAX = 512;
export const TCP_BYTES_MAX = 65_535;

const FLAG = { response: 0x8000, authoritative: 0x0400, truncated: 0x0200, recursionDesired: 0x0100 } as const;

export interface Query {
  readonly message: Buffer;
  /** In lower case, without the last dot; empty: the root. A dot within a label is no dot here: such names are not ours. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** Where the question ends. */
  readonly endAt: number;
  /** Null: none was sent. */
  readonly edns: { readonly payloadBytes: number; readonly version: number } | null;
}

/** What cannot be read: it is answered with this code, where it is a query at all. */
export interface Unread {
  readonly message: Buffer;
  readonly rcode: 'FORMERR' | 'NOTIMP';
}

/** Null: it is no query, and gets no answer. */
export function readQuery(message: Buffer): Query | Unread | null {
  if (message.length < HEADER_BYTES) return null;
  const flags = message.readUInt16BE(2);
  if ((flags & FLAG.response) !== 0) return null;
  if ((flags & 0x7800) !== 0) return { message, rcode: 'NOTIMP' };
  const broken: Unread = { message, rcode: 'FORMERR' };
  const isOneQuestion = message.readUInt16BE(4) === 1 && message.readUInt32BE(6) === 0;
  if (!isOneQuestion || message.readUInt16BE(10) > 8) return broken;
  const name = readName(message, HEADER_BYTES);
  if (name === null || name.endAt + 4 > message.length) return broken;
  const endAt = name.endAt + 4;
  const edns = readEdns(message, endAt);
  if (edns === undefined) return broken;
  const { text } = name;
  return {
    message,
    name: text,
    type: message.readUInt16BE(endAt - 4),
    class: message.readUInt16BE(endAt - 2),
    endAt,
    edns,
  };
}

function readName(message: Buffer, from: number): { readonly text: string; readonly endAt: number } | null {
  let text = '';
  let at = from;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > LABEL_BYTES_MAX) return null;
    at += 1;
    if (length === 0) return { text: text.toLowerCase(), endAt: at };
    if (at + length > message.length || at + length - from >= NAME_BYTES_MAX) return null;
    const label = message.toString('latin1', at, at + length);
    const safe = label.includes('.') ? label.replaceAll('.', '\0') : label;
    text = text === '' ? safe : `${text}.${safe}`;
    at += length;
  }
}

/** Null: there is none. Undefined: the additional section cannot be read, or has two. */
function readEdns(message: Buffer, from: number): Query['edns'] | undefined {
  let edns: Query['edns'] = null;
  let at = from;
  for (let left = message.readUInt16BE(10); left > 0; left -= 1) {
    const name = readName(message, at);
    if (name === null || name.endAt + 10 > message.length) return undefined;
    const { endAt } = name;
    const dataAt = endAt + 10;
    at = dataAt + message.readUInt16BE(endAt + 8);
    if (at > message.length) return undefined;
    if (message.readUInt16BE(endAt) !== TYPE_OPT) continue;
    if (edns !== null || name.text !== '') return undefined;
    edns = { payloadBytes: message.readUInt16BE(endAt + 2), version: message[endAt + 5] as number };
  }
  return edns;
}

/** A record as it goes into an answer: whose it is, and type, class, ttl, length and rdata. */
export interface WireRecord {
  readonly owner: Buffer;
  readonly body: Buffer;
}

export interface Reply {
  readonly rcode: Rcode;
  readonly isAuthoritative: boolean;
  readonly answers: readonly WireRecord[];
  readonly authority: readonly WireRecord[];
  /** Left out where there is no room. */
  readonly additional: readonly WireRecord[];
}

export const NOTHING: readonly WireRecord[] = [];

export function bareReply(rcode: Rcode): Reply {
  return { rcode, isAuthoritative: false, answers: NOTHING, authority: NOTHING, additional: NOTHING };
}

/** Bytes that an answer by UDP may have. */
export function udpRoom({ edns }: Query): number {
  return edns === null
    ? PLAIN_UDP_BYTES_MAX
    : Math.min(UDP_BYTES_MAX, Math.max(PLAIN_UDP_BYTES_MAX, edns.payloadBytes));
}

/** The answer to a query; one that is longer than `room` is cut to the question, and says so. */
export function writeReply(query: Query, reply: Reply, room: number): Buffer {
  const fixed = query.endAt + (query.edns === null ? 0 : OPT_BYTES);
  const wanted = fixed + bytesOf(reply.answers) + bytesOf(reply.authority);
  if (wanted > room)
    return write(query, { ...reply, answers: NOTHING, authority: NOTHING, additional: NOTHING }, fixed, true);
  const extra = bytesOf(reply.additional);
  if (wanted + extra > room) return write(query, { ...reply, additional: NOTHING }, wanted, false);
  return write(query, reply, wanted + extra, false);
}

/** Cut to the question: whoever asks is to ask again by TCP. No longer than the query but for OPT. */
export function writeCut(query: Query): Buffer {
  return write(query, bareReply('NOERROR'), query.endAt + (query.edns === null ? 0 : OPT_BYTES), true);
}

/** Header alone, for what could not be read. */
export function writeUnread({ message, rcode }: Unread): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(message.readUInt16BE(0), 0);
  bytes.writeUInt16BE(FLAG.response | (message.readUInt16BE(2) & (0x7800 | FLAG.recursionDesired)) | RCODES[rcode], 2);
  return bytes;
}

function write({ message, endAt, edns }: Query, reply: Reply, length: number, isCut: boolean): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  message.copy(bytes, 0, 0, endAt);
  const code = RCODES[reply.rcode];
  const asked = message.readUInt16BE(2) & FLAG.recursionDesired;
  const said = (reply.isAuthoritative ? FLAG.authoritative : 0) | (isCut ? FLAG.truncated : 0);
  bytes.writeUInt16BE(FLAG.response | asked | said | (code & 0x0f), 2);
  bytes.writeUInt16BE(reply.answers.length, 6);
  bytes.writeUInt16BE(reply.authority.length, 8);
  bytes.writeUInt16BE(reply.additional.length + (edns === null ? 0 : 1), 10);
  let at = endAt;
  for (const records of [reply.answers, reply.authority, reply.additional]) {
    for (const { owner, body } of records) {
      owner.copy(bytes, at);
      body.copy(bytes, at + owner.length);
      at += owner.length + body.length;
    }
  }
  if (edns !== null) {
    bytes[at] = 0;
    bytes.writeUInt16BE(TYPE_OPT, at + 1);
    bytes.writeUInt16BE(UDP_BYTES_MAX, at + 3);
    bytes.writeUInt32BE((code >> 4) << 24, at + 5);
    bytes.writeUInt16BE(0, at + 9);
  }
  return bytes;
}

function bytesOf(records: readonly WireRecord[]): number {
  let bytes = 0;
  for (const { owner, body } of records) bytes += owner.length + body.length;
  return bytes;
}

/** The question's own name, by a pointer. */
export const ASKED_NAME = Buffer.of(0xc0, HEADER_BYTES);

/** The last labels of the question's name, by a pointer; `bytes` is how many of it they have. */
export function askedSuffix({ endAt }: Query, bytes: number): Buffer {
  const at = endAt - 4 - bytes;
  return Buffer.of(0xc0 | (at >> 8), at & 0xff);
}

/** Type, class IN, ttl, length and rdata. */
export function recordBody(type: number, ttl: number, rdata: Buffer): Buffer {
  const body = Buffer.allocUnsafe(10 + rdata.length);
  body.writeUInt16BE(type, 0);
  body.writeUInt16BE(CLASS_IN, 2);
  body.writeUInt32BE(ttl, 4);
  body.writeUInt16BE(rdata.length, 8);
  rdata.copy(body, 10);
  return body;
}
