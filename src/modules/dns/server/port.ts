// The DNS port, by UDP and TCP (RFC 7766). Loaded when DNS_PORT is set.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAt, ProtocolServer } from '../../../kit/protocol-server.ts';
import type { DnsState } from '../state.ts';
import { frameOf, framesOf } from '../wire/frames.ts';
import { answerTo } from './answer.ts';
import { countOne, type DnsCounts } from './counts.ts';
import { type Query, readQuery, TCP_BYTES_MAX, udpRoom, writeCut } from './message.ts';
import { AnswerRate } from './rate.ts';
import { ServedZones } from './zones.ts';

const CONNECTIONS_MAX = 1_000;
const CONNECTIONS_OF_ADDRESS_MAX = 20;
const SILENCE_MS = 10_000;
const CONNECTION_MS = 60_000;
/** Answers that a client has not read: until then nothing more is read of it. */
const UNREAD_BYTES_MAX = 256 * 1024;
/** Questions by UDP that wait for a zone to be read. */
const WAITING_MAX = 2_000;
const QUESTION_BYTES_MAX = 4_096;
const RECEIVE_BYTES = 4 * 1024 * 1024;

export class DnsPort implements ProtocolServer {
  readonly #zones: ServedZones;
  readonly #counts: DnsCounts;
  readonly #rate: AnswerRate;
  readonly #tcp: Server;
  readonly #open = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  #udp: UdpSocket | null = null;
  #waiting = 0;

  constructor({ core, names, counts, settings }: DnsState) {
    this.#zones = new ServedZones(core, names);
    this.#counts = counts;
    this.#rate = new AnswerRate(Math.ceil(settings.rate / core.bounds.processes));
    this.#tcp = createServer({ noDelay: true }, (socket) => this.#onConnection(socket));
    this.#tcp.maxConnections = CONNECTIONS_MAX;
  }

  async listen({ host, port, backlog, reusePort }: ListenAt): Promise<void> {
    await this.#zones.open();
    const { address: here, family } = await lookup(host);
    // `::` takes IPv4 too, as TCP does. An address needs no look-up: the usual one takes longer than the answer.
    const udp = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      reusePort,
      lookup: (address, _, done) => done(null, address, family),
    });
    this.#udp = udp;
    try {
      // It listens before bind has returned.
      const bound = once(udp, 'listening');
      udp.bind({ port, address: here });
      await bound;
      this.#tcp.listen({ host: here, port, backlog, reusePort });
      await once(this.#tcp, 'listening');
    } catch (error) {
      await this.close();
      throw error;
    }
    udp.setRecvBufferSize(RECEIVE_BYTES);
    // Of single packets: nobody listens where an answer went.
    udp.on('error', () => countOne(this.#counts.dropped, 'error'));
    udp.on('message', (message, from) => this.#packet(message, from));
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#udp === null) resolve();
    else this.#udp.close(() => resolve());
    this.#udp = null;
    this.#tcp.close();
    for (const socket of this.#sockets) socket.destroySoon();
    await Promise.all([promise, this.#zones.close()]);
  }

  #packet(message: Buffer, { address, port }: RemoteInfo): void {
    const allowed = this.#rate.take(address, performance.now());
    if (allowed !== 'answer' || port === 0) {
      const query = allowed === 'cut' ? readQuery(message) : null;
      countOne(this.#counts.dropped, allowed === 'cut' ? 'cut' : 'rate');
      if (query !== null && !('rcode' in query)) this.#udp?.send(writeCut(query), port, address);
      return;
    }
    const answer = answerTo(message, this.#zones, this.#counts, udpRoom);
    if (answer === null) return;
    if (answer instanceof Promise) this.#later(answer, port, address);
    else this.#udp?.send(answer, port, address);
  }

  #later(answer: Promise<Buffer>, port: number, address: string): void {
    if (this.#waiting >= WAITING_MAX) {
      countOne(this.#counts.dropped, 'busy');
      return;
    }
    this.#waiting += 1;
    void answer.then((bytes) => {
      this.#waiting -= 1;
      this.#udp?.send(bytes, port, address);
    });
  }

  #onConnection(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const open = this.#open.get(address) ?? 0;
    if (open >= CONNECTIONS_OF_ADDRESS_MAX || this.#udp === null) {
      socket.destroy();
      return;
    }
    this.#open.set(address, open + 1);
    this.#sockets.add(socket);
    const late = setTimeout(() => socket.destroy(), CONNECTION_MS);
    socket.on('close', () => {
      clearTimeout(late);
      this.#sockets.delete(socket);
      const left = (this.#open.get(address) ?? 1) - 1;
      if (left === 0) this.#open.delete(address);
      else this.#open.set(address, left);
    });
    socket.on('error', () => socket.destroy());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    void this.#converse(socket).catch(() => socket.destroy());
  }

  /** Question after question, in their order. One that is longer than any of use ends the connection. */
  async #converse(socket: Socket): Promise<void> {
    for await (const message of framesOf(socket as AsyncIterable<Buffer>, QUESTION_BYTES_MAX)) {
      const answer = await answerTo(message, this.#zones, this.#counts, everything);
      if (answer === null) break;
      socket.write(frameOf(answer));
      if (socket.writableLength > UNREAD_BYTES_MAX) await once(socket, 'drain');
    }
    socket.end();
  }
}

const everything = (_: Query) => TCP_BYTES_MAX;
