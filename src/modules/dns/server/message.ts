// Query reader and reply writer of the name server. Of a query only the question and OPT count; its names have no pointers, so reading one is
// linear in its bytes.

import {
  FLAGS,
  HEADER_BYTES,
  headerBytes,
  optRecord,
  questionAt,
  RCODES,
  type Rcode,
  readHeader,
  recordAt,
  TYPES,
} from '../wire/message.ts';

/** More by UDP may arrive in pieces, or not at all (DNS flag day 2020). */
export const UDP_BYTES_MAX = 1_232;
const PLAIN_UDP_BYTES_MAX = 512;
export const TCP_BYTES_MAX = 65_535;
/** Records of a query beside the question. */
const ADDITIONAL_MAX = 8;

/** That of every reply, and that which says BADVERS: the rest of its code is in the header. */
const OPT = optRecord(UDP_BYTES_MAX);
const OPT_BADVERS = optRecord(UDP_BYTES_MAX, RCODES.BADVERS);

export interface Query {
  readonly message: Buffer;
  /** In lower case, without the last dot; `.`: the root. */
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
  const header = readHeader(message);
  if (header === null || (header.flags & FLAGS.response) !== 0) return null;
  if ((header.flags & FLAGS.opcode) !== 0) return { message, rcode: 'NOTIMP' };
  const broken: Unread = { message, rcode: 'FORMERR' };
  const { questions, answers, authority, additional } = header;
  if (questions !== 1 || answers !== 0 || authority !== 0 || additional > ADDITIONAL_MAX) return broken;
  const question = questionAt(message, HEADER_BYTES, 'refused');
  if (question === null) return broken;
  const edns = readEdns(message, question.endAt, additional);
  return edns === undefined ? broken : { message, ...question, edns };
}

/** Null: there is none. Undefined: the additional section cannot be read, or has two. */
function readEdns(message: Buffer, from: number, count: number): Query['edns'] | undefined {
  let edns: Query['edns'] = null;
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    const record = recordAt(message, at, 'refused');
    if (record === null) return undefined;
    at = record.endAt;
    if (record.type !== TYPES.OPT) continue;
    if (edns !== null || record.name !== '.') return undefined;
    edns = { payloadBytes: record.class, version: (record.ttl >> 16) & 0xff };
  }
  return edns;
}

/** A record as it goes into an answer: whose it is, and type, class, ttl, length and rdata. */
export interface ReplyRecord {
  readonly owner: Buffer;
  readonly body: Buffer;
}

export interface Reply {
  readonly rcode: Rcode;
  readonly isAuthoritative: boolean;
  readonly answers: readonly ReplyRecord[];
  readonly authority: readonly ReplyRecord[];
  /** Left out where there is no room. */
  readonly additional: readonly ReplyRecord[];
}

export const NOTHING: readonly ReplyRecord[] = [];

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
  const fixed = query.endAt + (query.edns === null ? 0 : OPT.length);
  const wanted = fixed + bytesOf(reply.answers) + bytesOf(reply.authority);
  if (wanted > room)
    return write(query, { ...reply, answers: NOTHING, authority: NOTHING, additional: NOTHING }, fixed, true);
  const extra = bytesOf(reply.additional);
  if (wanted + extra > room) return write(query, { ...reply, additional: NOTHING }, wanted, false);
  return write(query, reply, wanted + extra, false);
}

/** Cut to the question: whoever asks is to ask again by TCP. No longer than the query but for OPT. */
export function writeCut(query: Query): Buffer {
  return write(query, bareReply('NOERROR'), query.endAt + (query.edns === null ? 0 : OPT.length), true);
}

/** Header alone, for what could not be read. */
export function writeUnread({ message, rcode }: Unread): Buffer {
  const kept = message.readUInt16BE(2) & (FLAGS.opcode | FLAGS.recursionDesired);
  return headerBytes({ id: message.readUInt16BE(0), flags: FLAGS.response | kept | RCODES[rcode] });
}

function write({ message, endAt, edns }: Query, reply: Reply, length: number, isCut: boolean): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  message.copy(bytes, 0, 0, endAt);
  const code = RCODES[reply.rcode];
  const asked = message.readUInt16BE(2) & FLAGS.recursionDesired;
  const flags = (reply.isAuthoritative ? FLAGS.authoritative : 0) | (isCut ? FLAGS.truncated : 0);
  bytes.writeUInt16BE(FLAGS.response | asked | flags | (code & FLAGS.rcode), 2);
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
  if (edns !== null) (reply.rcode === 'BADVERS' ? OPT_BADVERS : OPT).copy(bytes, at);
  return bytes;
}

function bytesOf(records: readonly ReplyRecord[]): number {
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
