// A service with its DNS port, and how tests ask it, byte by byte.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { freePort } from '../support/process.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;

export interface DnsOwner {
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;
  /** Answers `data`; throws what is no 200. */
  data(method: string, path: string, body?: unknown): Promise<Data>;
  /** Creates a zone with the records of a zone file. */
  zone(zone: string, content?: string): Promise<void>;
}

export interface DnsBench {
  readonly test: TestService;
  readonly port: number;
  /** `127.0.0.1:port`. */
  readonly address: string;
  owner(): Promise<DnsOwner>;
  ask(name: string, type: string, fields?: Partial<Packet>): Promise<DecodedPacket>;
  /** Asks until the answer is as wanted: a change takes up to a second. */
  askUntil(name: string, type: string, isWanted: (answer: DecodedPacket) => boolean): Promise<DecodedPacket>;
  /** Bytes to the port by UDP; the answer, or null after `waitMs`. */
  send(message: Uint8Array, waitMs?: number): Promise<Buffer | null>;
  sendTcp(message: Buffer): Promise<Buffer>;
  stop(): Promise<void>;
}

/** Look-ups of the service go to its own port. `rate`: answers a second to one network; no limit when absent. */
export async function startDnsBench({
  env = {},
  rate = 0,
  ...options
}: TestServiceOptions & { rate?: number } = {}): Promise<DnsBench> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const settings = {
    DNS_PORT: String(port),
    DNS_RESOLVERS: address,
    DNS_RATE: String(rate),
    DNS_NAMES: 'ns1.dns.test,ns2.dns.test',
  };
  const test = await startTestService({ ...options, env: { ...settings, ...env } });
  const send = (message: Uint8Array, waitMs = 1_000) => sendUdp(port, message, waitMs);
  const ask = async (name: string, type: string, fields: Partial<Packet> = {}) => {
    const answer = await send(queryOf(name, type, fields), 50_000);
    if (answer === null) throw new Error(`no answer to ${type} ${name}`);
    return decode(answer);
  };
  return {
    test,
    port,
    address,
    send,
    ask,
    owner: () => ownerOf(test),
    async askUntil(name, type, isWanted) {
      for (let left = 100; ; left -= 1) {
        const answer = await ask(name, type);
        if (isWanted(answer)) return answer;
        if (left === 0) throw new Error(`${type} ${name} stayed ${JSON.stringify(answer)}`);
        await sleep(50);
      }
    },
    sendTcp: (message) => sendTcp(port, message),
    stop: () => test.stop(),
  };
}

export function queryOf(name: string, type: string, fields: Partial<Packet> = {}): Buffer {
  return encode({ type: 'query', id: 7, flags: 0, questions: [{ type: type as 'A', name, class: 'IN' }], ...fields });
}

/** OPT with room for so many bytes. */
export function edns(udpPayloadSize: number, ednsVersion = 0): Partial<Packet> {
  return {
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize,
        flags: 0,
        options: [],
        extendedRcode: 0,
        ednsVersion,
        flag_do: false,
      } as never,
    ],
  };
}

/** The data of the answers, sorted. */
export function dataOf({ answers = [] }: DecodedPacket): readonly string[] {
  return answers.map((answer) => JSON.stringify('data' in answer ? answer.data : null)).sort();
}

export function rcodeOf(answer: DecodedPacket): string {
  return (answer as unknown as { rcode: string }).rcode;
}

async function ownerOf(test: TestService): Promise<DnsOwner> {
  const { accountId, secret } = await createTestAccount(test.core, 10);
  const call = client(test.url, secret);
  const data = async (method: string, path: string, body?: unknown) => {
    const reply = await call(method, path, body);
    if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
    return reply.body.data;
  };
  return {
    accountId,
    secret,
    call,
    data,
    async zone(zone, content) {
      await data('POST', '/v1/dns/zone/create', { zone });
      if (content !== undefined) await data('POST', '/v1/dns/zone/import', { zone, content });
    },
  };
}

async function sendUdp(port: number, message: Uint8Array, waitMs: number): Promise<Buffer | null> {
  const socket = createSocket('udp4');
  try {
    socket.send(message, port, '127.0.0.1');
    const [answer] = (await Promise.race([once(socket, 'message'), sleep(waitMs, [null], { ref: false })])) as [
      Buffer | null,
    ];
    return answer;
  } finally {
    socket.close();
  }
}

async function sendTcp(port: number, message: Buffer): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  socket.write(Buffer.concat([length, message]));
  let seen = Buffer.alloc(0);
  for await (const chunk of socket) {
    seen = Buffer.concat([seen, chunk as Buffer]);
    if (seen.length >= 2 && seen.length >= 2 + seen.readUInt16BE(0)) break;
  }
  socket.destroy();
  return seen.subarray(2);
}
