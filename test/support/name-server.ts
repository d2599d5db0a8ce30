// A name server for tests: answers TXT, MX, A, AAAA, CNAME and NS of a zone that the test changes, by UDP and, where that is too short, by TCP;
// and misbehaves for the names that it is told to (RFC 1035).
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

type Kind = keyof typeof TYPES;
/**
 * `silence`: no answer. `wrong id`: one of another question. `servfail`, `refused`: those codes. `loop`: a CNAME to itself. `garbage`: bytes
 * that are no message. `cut`: a message that ends in the middle.
 */
export type Misbehaviour = 'silence' | 'wrong id' | 'servfail' | 'refused' | 'loop' | 'garbage' | 'cut';

export interface NameServer {
  /** `address:port`. */
  readonly address: string;
  /** `TXT name` of each question, in order; those over TCP begin with `tcp `. */
  readonly asked: readonly string[];
  /** Replaces the records of a kind: TXT `text`, MX `10 host`, A and AAAA addresses, CNAME and NS names. None: the name has none. */
  set(kind: Kind, name: string, ...values: readonly string[]): void;
  /** Every question about the name is answered so; null: properly again. */
  misbehave(name: string, how: Misbehaviour | null): void;
  /** Removes all records and misbehaviours. */
  clear(): void;
  stop(): Promise<void>;
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where the question ends in the message. */
  readonly endAt: number;
}

const TYPES = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28 } as const;
const KINDS = new Map<number, Kind>(Object.entries(TYPES).map(([kind, type]) => [type, kind as Kind]));
const UDP_BYTES_MAX = 512;
const HEADER_BYTES = 12;
const LOOPBACK = '127.0.0.1';
const CODES = { none: 0, servfail: 2, nxdomain: 3, refused: 5 } as const;

export async function startNameServer(): Promise<NameServer> {
  const records = new Map<string, readonly string[]>();
  const bad = new Map<string, Misbehaviour>();
  const asked: string[] = [];
  const answerTo = (message: Buffer, way: 'tcp ' | ''): Buffer | null => {
    const question = readQuestion(message);
    const kind = KINDS.get(question.type);
    if (kind !== undefined) asked.push(`${way}${kind} ${question.name}`);
    const how = bad.get(question.name);
    return how === undefined ? proper(message, question, records) : misbehave(message, question, how);
  };
  const { udp, tcp } = await listen(answerTo);
  return {
    address: `${LOOPBACK}:${udp.address().port}`,
    asked,
    set: (kind, name, ...values) => void records.set(`${kind} ${name}`, values),
    misbehave: (name, how) => void (how === null ? bad.delete(name) : bad.set(name, how)),
    clear() {
      records.clear();
      bad.clear();
    },
    async stop() {
      udp.close();
      tcp.close();
      for (const socket of sockets.get(tcp) ?? []) socket.destroy();
      await once(tcp, 'close');
    },
  };
}

const sockets = new WeakMap<Server, Set<Socket>>();

/** Both on one port: a free one of UDP may be taken for TCP, then another is tried. */
async function listen(answerTo: (message: Buffer, way: 'tcp ' | '') => Buffer | null) {
  for (;;) {
    const udp: UdpSocket = createSocket('udp4', (message, { port, address }) => {
      const answer = answerTo(message, '');
      if (answer === null) return;
      udp.send(answer.length > UDP_BYTES_MAX ? truncateAnswer(answer) : answer, port, address);
    });
    udp.bind(0, LOOPBACK);
    await once(udp, 'listening');
    const tcp = createServer((socket) => serveTcp(socket, (message) => answerTo(message, 'tcp ')));
    const open = new Set<Socket>();
    sockets.set(tcp, open);
    tcp.on('connection', (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    tcp.listen(udp.address().port, LOOPBACK);
    const isListening = await once(tcp, 'listening').then(
      () => true,
      () => false,
    );
    if (isListening) return { udp, tcp };
    udp.close();
  }
}

function serveTcp(socket: Socket, answerTo: (message: Buffer) => Buffer | null): void {
  let seen = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    seen = Buffer.concat([seen, chunk]);
    while (seen.length >= 2 && seen.length >= 2 + seen.readUInt16BE(0)) {
      const endAt = 2 + seen.readUInt16BE(0);
      const answer = answerTo(seen.subarray(2, endAt));
      seen = seen.subarray(endAt);
      if (answer !== null) socket.write(Buffer.concat([uint16(answer.length), answer]));
    }
  });
}

function proper(message: Buffer, question: Question, records: ReadonlyMap<string, readonly string[]>): Buffer {
  const { type, name } = question;
  const kind = KINDS.get(type);
  const values = kind === undefined ? undefined : records.get(`${kind} ${name}`);
  if (kind !== undefined && values !== undefined)
    return reply(
      message,
      question,
      CODES.none,
      values.map((value) => record(type, rdata(kind, value))),
    );
  const alias = records.get(`CNAME ${name}`)?.[0];
  if (kind !== undefined && alias !== undefined) {
    const beyond = (records.get(`${kind} ${alias}`) ?? []).map((value) =>
      Buffer.concat([nameBytes(alias), record(type, rdata(kind, value)).subarray(2)]),
    );
    return reply(message, question, CODES.none, [record(TYPES.CNAME, nameBytes(alias)), ...beyond]);
  }
  const isKnown = [...records.keys()].some((key) => key.endsWith(` ${name}`));
  return reply(message, question, isKnown ? CODES.none : CODES.nxdomain, []);
}

function misbehave(message: Buffer, question: Question, how: Misbehaviour): Buffer | null {
  const txt = [record(question.type, rdata('TXT', 'v=forged'))];
  const forged = reply(message, question, CODES.none, txt);
  switch (how) {
    case 'silence':
      return null;
    case 'wrong id':
      forged.writeUInt16BE(forged.readUInt16BE(0) ^ 0xffff, 0);
      return forged;
    case 'servfail':
    case 'refused':
      return reply(message, question, CODES[how], []);
    case 'loop':
      return reply(message, question, CODES.none, [record(TYPES.CNAME, Buffer.from([0xc0, HEADER_BYTES]))]);
    case 'garbage':
      return Buffer.concat([message.subarray(0, 2), Buffer.alloc(40, 0xc0)]);
    case 'cut':
      return forged.subarray(0, forged.length - 5);
  }
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), endAt: at + 5 };
}

function reply(message: Buffer, { endAt }: Question, code: number, answers: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  // A response, authoritative, with recursion desired and available.
  header.writeUInt16BE(0x8580 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, message.subarray(HEADER_BYTES, endAt), ...answers]);
}

/** Only what was asked, and the flag that there is more. */
function truncateAnswer(answer: Buffer): Buffer {
  const short = Buffer.from(answer.subarray(0, readQuestion(answer).endAt));
  short.writeUInt16BE(short.readUInt16BE(2) | 0x0200, 2);
  short.writeUInt16BE(0, 6);
  return short;
}

/** About the name of the question, for no time. */
function record(type: number, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0xc0, HEADER_BYTES]),
    uint16(type),
    uint16(1),
    Buffer.alloc(4),
    uint16(data.length),
    data,
  ]);
}

function rdata(kind: Kind, value: string): Buffer {
  if (kind === 'TXT')
    return Buffer.concat(
      chunks(Buffer.from(value, 'utf8')).map((part) => Buffer.concat([Buffer.of(part.length), part])),
    );
  if (kind === 'A') return Buffer.from(value.split('.').map(Number));
  if (kind === 'AAAA') return Buffer.concat(value.split(':').map((word) => uint16(Number.parseInt(word, 16))));
  if (kind !== 'MX') return nameBytes(value);
  const [preference = '', host = ''] = value.split(' ');
  return Buffer.concat([uint16(Number(preference)), nameBytes(host)]);
}

function chunks(bytes: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(bytes.length / 255));
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * 255, (i + 1) * 255));
}

/** `.`: the root. */
function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
