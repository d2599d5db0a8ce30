// A name server on loopback that answers from a table (RFC 1035, the part of it that A and AAAA questions need).
import { createSocket } from 'node:dgram';
import ipaddr from 'ipaddr.js';

const TYPE_AAAA = 28;
const NOT_FOUND = 3;
const FAILED = 2;

/** Addresses, a failure, or silence. */
export type Zone = Readonly<Record<string, { readonly A: Records; readonly AAAA: Records }>>;
type Records = readonly string[] | 'not found' | 'failed' | 'silent';

export interface NameServer {
  /** `address:port`. */
  readonly server: string;
  /** Questions asked, as `name type`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export async function nameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, peer) => {
    const { name, isAaaa, end } = readQuestion(question);
    asked.push(`${name} ${isAaaa ? 'AAAA' : 'A'}`);
    const records = zone[name]?.[isAaaa ? 'AAAA' : 'A'] ?? 'not found';
    if (records !== 'silent') socket.send(answer(question.subarray(0, end), records), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { name: string; isAaaa: boolean; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), isAaaa: message.readUInt16BE(at + 1) === TYPE_AAAA, end: at + 5 };
}

function answer(question: Buffer, records: readonly string[] | 'not found' | 'failed'): Buffer {
  const head = Buffer.from(question);
  const found = Array.isArray(records) ? records : [];
  const code = records === 'not found' ? NOT_FOUND : records === 'failed' ? FAILED : 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(found.length, 6);
  // No additional records: the question's EDNS record was cut off.
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...found.map(record)]);
}

function record(address: string): Buffer {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(bytes.length === 4 ? 1 : TYPE_AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}
