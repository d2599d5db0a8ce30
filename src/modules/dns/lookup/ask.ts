// Sends one query to one name server: by UDP, and by TCP when the answer is truncated. It never fails: no answer within 2 s, or one to another
// question, is a result too. Of a hostile answer only the first records are read, and nothing beside the answer section.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { NameServer } from '../../../lib/name-server.ts';
import { ANSWERS_MAX, ASK_MS } from '../limits.ts';
import { frameOf, framesOf } from '../wire/frames.ts';
import {
  FLAGS,
  headerBytes,
  Malformed,
  optRecord,
  questionBytes,
  rcodeName,
  readHeader,
  readMessage,
  TYPES,
  typeName,
  type WireRecord,
} from '../wire/message.ts';
import { rdataText } from '../wire/rdata.ts';

export interface FoundRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: string;
}

export interface Reply {
  /** As DNS calls it; `TIMEOUT`: no answer. `UNREACHABLE`: nobody listens there. `MALFORMED`: no answer to the question. */
  readonly rcode: string;
  readonly answers: readonly FoundRecord[];
  /** The resolver has verified them by DNSSEC. */
  readonly authenticated: boolean;
  readonly latencyMs: number;
}

const PAYLOAD_BYTES = 1_232;
const DATA_CHARACTERS_MAX = 4_096;

export async function ask(server: NameServer, name: string, type: keyof typeof TYPES): Promise<Reply> {
  const startedMs = performance.now();
  const flags = FLAGS.recursionDesired | FLAGS.authenticData;
  const query = Buffer.concat([
    headerBytes({ id: randomInt(65_536), flags, questions: 1, additional: 1 }),
    questionBytes(name, TYPES[type]),
    optRecord(PAYLOAD_BYTES),
  ]);
  const signal = AbortSignal.timeout(ASK_MS);
  const packet = await byUdp(server, query, signal);
  const isCut = typeof packet !== 'string' && (packet.readUInt16BE(2) & FLAGS.truncated) !== 0;
  const message = isCut ? await byTcp(server, query, signal) : packet;
  const latencyMs = Math.round(performance.now() - startedMs);
  if (typeof message === 'string') return { rcode: message, answers: [], authenticated: false, latencyMs };
  return { ...readReply(message, name, TYPES[type]), latencyMs };
}

function readReply(bytes: Buffer, name: string, type: number): Omit<Reply, 'latencyMs'> {
  const malformed = { rcode: 'MALFORMED', answers: [], authenticated: false };
  try {
    const { header, rcode, questions, answers } = readMessage(bytes, ANSWERS_MAX);
    const [question] = questions;
    if (questions.length !== 1 || question?.type !== type || question.name !== name) return malformed;
    return {
      rcode: rcodeName(rcode),
      answers: answers.map((record) => foundRecord(bytes, record)),
      authenticated: (header.flags & FLAGS.authenticData) !== 0,
    };
  } catch (error) {
    if (error instanceof Malformed) return malformed;
    throw error;
  }
}

function foundRecord(bytes: Buffer, record: WireRecord): FoundRecord {
  const { name, type, ttl } = record;
  const data = rdataText(bytes, record).slice(0, DATA_CHARACTERS_MAX).toWellFormed();
  return { name, type: typeName(type), ttl, data };
}

/** A message that answers the query, or why there is none. */
function byUdp({ host, port }: NameServer, query: Buffer, signal: AbortSignal): Promise<Buffer | string> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    const end = (found: Buffer | string) => {
      signal.removeEventListener('abort', late);
      socket.close();
      resolve(found);
    };
    const late = () => end('TIMEOUT');
    signal.addEventListener('abort', late, { once: true });
    socket.once('error', () => end('UNREACHABLE'));
    // Of the connected socket: packets of other addresses do not arrive. One with another id is somebody's guess.
    socket.on('message', (message) => {
      if (isAnswer(message, query)) end(message);
    });
    socket.connect(port, host, () => socket.send(query));
  });
}

async function byTcp({ host, port }: NameServer, query: Buffer, signal: AbortSignal): Promise<Buffer | string> {
  const socket = connect({ host, port, signal });
  // Told to whoever reads it, below.
  socket.on('error', () => undefined);
  try {
    socket.write(frameOf(query));
    const { value: message } = await framesOf(socket).next();
    return message !== undefined && isAnswer(message, query) ? message : 'MALFORMED';
  } catch {
    return signal.aborted ? 'TIMEOUT' : 'UNREACHABLE';
  } finally {
    socket.destroy();
  }
}

function isAnswer(message: Buffer, query: Buffer): boolean {
  const header = readHeader(message);
  return header !== null && header.id === query.readUInt16BE(0) && (header.flags & FLAGS.response) !== 0;
}
