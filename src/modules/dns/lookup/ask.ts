// One question to one name server: by UDP, and by TCP when the answer is cut. Never fails: what does not come in 2 s, or is no answer to the
// question, says so. Of a hostile answer only the first records are read, and nothing beside the answer section.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type Answer, AUTHENTIC_DATA, decode, encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } from 'dns-packet';
import type { NameServer } from '../../../lib/name-server.ts';
import { ANSWERS_MAX, ASK_MS } from '../limits.ts';
import { dataText, nameText } from './text.ts';

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

const HEADER_BYTES = 12;
const PAYLOAD_BYTES = 1_232;
const COUNT_AT = { question: 4, answer: 6, authority: 8, additional: 10 } as const;

export async function ask(server: NameServer, name: string, type: string): Promise<Reply> {
  const startedMs = performance.now();
  const id = randomInt(65_536);
  const query = encode({
    ...{ type: 'query', id, flags: RECURSION_DESIRED | AUTHENTIC_DATA },
    questions: [{ type: type as 'A', name, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: PAYLOAD_BYTES,
        flags: 0,
        options: [],
        extendedRcode: 0,
        ednsVersion: 0,
        flag_do: false,
      } as never,
    ],
  });
  const signal = AbortSignal.timeout(ASK_MS);
  const said = await byUdp(server, query, signal);
  const isCut = typeof said !== 'string' && (said.readUInt16BE(2) & TRUNCATED_RESPONSE) !== 0;
  const message = isCut ? await byTcp(server, query, signal) : said;
  const latencyMs = Math.round(performance.now() - startedMs);
  if (typeof message === 'string') return { rcode: message, answers: [], authenticated: false, latencyMs };
  return { ...readReply(message, name, type), latencyMs };
}

function readReply(message: Buffer, name: string, type: string): Omit<Reply, 'latencyMs'> {
  const malformed = { rcode: 'MALFORMED', answers: [], authenticated: false };
  const short = Buffer.from(message);
  short.writeUInt16BE(Math.min(short.readUInt16BE(COUNT_AT.answer), ANSWERS_MAX), COUNT_AT.answer);
  short.writeUInt16BE(0, COUNT_AT.authority);
  short.writeUInt16BE(0, COUNT_AT.additional);
  if (short.readUInt16BE(COUNT_AT.question) !== 1) return malformed;
  try {
    const reply = decode(short);
    // The library reads beyond the end of a message that is cut.
    if ((decode as unknown as { bytes: number }).bytes > short.length) return malformed;
    const [question] = reply.questions ?? [];
    if (question?.type !== type || question.name.toLowerCase() !== name) return malformed;
    return {
      rcode: (reply as { rcode?: string }).rcode ?? 'NOERROR',
      answers: (reply.answers ?? []).map(recordOf),
      authenticated: reply.flag_ad === true,
    };
  } catch {
    // Whatever a message that is none makes of the library.
    return malformed;
  }
}

function recordOf(answer: Answer): FoundRecord {
  const ttl = 'ttl' in answer ? Number(answer.ttl ?? 0) : 0;
  return { name: nameText(answer.name), type: String(answer.type).slice(0, 20), ttl, data: dataText(answer) };
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

function byTcp({ host, port }: NameServer, query: Buffer, signal: AbortSignal): Promise<Buffer | string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const length = Buffer.allocUnsafe(2);
    length.writeUInt16BE(query.length);
    let seen = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      if (seen.length < 2 || seen.length < 2 + seen.readUInt16BE(0)) return;
      const message = seen.subarray(2, 2 + seen.readUInt16BE(0));
      resolve(isAnswer(message, query) ? message : 'MALFORMED');
      socket.destroy();
    });
    socket.once('error', () => resolve(signal.aborted ? 'TIMEOUT' : 'UNREACHABLE'));
    socket.once('close', () => resolve(signal.aborted ? 'TIMEOUT' : 'MALFORMED'));
    socket.write(Buffer.concat([length, query]));
  });
}

function isAnswer(message: Buffer, query: Buffer): boolean {
  const isWhole = message.length >= HEADER_BYTES && message.readUInt16BE(0) === query.readUInt16BE(0);
  return isWhole && (message.readUInt16BE(2) & 0x8000) !== 0;
}
