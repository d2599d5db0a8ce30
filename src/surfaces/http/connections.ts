// The HTTP server in front of the routes. It limits connections in all and per address, runs one call at a time on each, and ends stalled
// uploads and answers. A request queued behind another on its connection holds no route and no slot yet.
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Envelope } from '../../gateway/envelope.ts';
import type { Refusals } from '../../gateway/limits/refusals.ts';
import type { Traffic } from '../../gateway/limits/traffic.ts';
import { FairPlaces } from '../../lib/fair-places.ts';
import { networkOf } from '../../lib/network-of.ts';
import { asksForWebSocket, lastAnswer } from '../sockets/upgrade.ts';
import { createHttpServer, type TlsDoorOptions } from '../tls/door.ts';
import { Answer } from './answer.ts';
import { Arrivals } from './arrivals.ts';
import { continueWhenRead } from './continue.ts';
import { connectionsMaxOf } from './descriptors.ts';
import { type Homes, type Move, Moves } from './moves.ts';
import { answerOverloaded, BAD_REQUEST, FULL, isHealth, OVERLOADED, refuse } from './overloaded.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { stalls, type Upload } from './upload.ts';

export interface ConnectionOptions {
  readonly traffic: Traffic;
  readonly refusals: Refusals;
  readonly envelope: () => Envelope;
  /** Whether the address is a proxy's: its connections are those of many. */
  readonly isProxy: (address: string) => boolean;
  /** Of one of several processes. */
  readonly homes?: Homes | undefined;
  /** Null: plain HTTP. */
  readonly tls: Pick<TlsDoorOptions, 'settings' | 'log'> | null;
}

interface Connection {
  readonly socket: Socket;
  readonly owner: string;
  readonly isProxied: boolean;
  /** Beyond the bound: answered only where health is asked for. */
  readonly spare: boolean;
  readonly handle: RequestListener;
  /** Goes on to what waits. */
  readonly next: () => void;
  answer: Answer | null;
  request: IncomingMessage | null;
  begunMs: number;
  upload: Upload | null;
  /** Null: it stays. */
  move: Move | null;
  /** Another process has handed it over, having answered on it. */
  isMoved: boolean;
  readonly waiting: (readonly [IncomingMessage, Answer])[];
}

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #open = new Map<Socket, Connection>();
  readonly #max: number;
  readonly #places: FairPlaces;
  readonly #unread: UnreadAnswers;
  readonly #arrivals: Arrivals<Connection>;
  readonly #moves: Moves | null;
  #spare = 0;
  #proxied = 0;
  #waiting = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#max = connectionsMaxOf(options.traffic.bounds.all);
    this.#places = new FairPlaces(this.#max);
    this.#moves = options.homes === undefined ? null : new Moves(options.homes);
    this.#unread = new UnreadAnswers(options.traffic);
    const { all } = options.traffic.bounds;
    this.#arrivals = new Arrivals({
      sliceMs: all.arrivalSliceMs,
      acceptingMs: all.acceptingMs,
      lateMs: all.turnWaitMs,
      burstMs: all.turnBurstMs,
      burstLateMs: all.turnBurstWaitMs,
      max: all.connectionsMax,
      go: (connection, waitedMs) => this.#go(connection, waitedMs),
      late: (connection) => this.#refuse(connection),
    });
  }

  get count(): number {
    return this.#open.size;
  }

  /** A server whose requests `handle` gets one at a time of each connection. */
  server(handle: RequestListener): Server {
    const { isProxy, homes, tls } = this.#options;
    const { bounds } = this.#options.traffic;
    const { connection } = bounds;
    const options = {
      ServerResponse: Answer,
      maxHeaderSize: connection.headerBytesMax,
      headersTimeout: connection.headersTimeoutMs,
      connectionsCheckingInterval: connection.headersLookEveryMs,
      // Bodies that are taken as they come have no end to be held to: looked at below.
      requestTimeout: 0,
      keepAliveTimeout: connection.keepAliveTimeoutMs,
      // Asked for when it is the request's turn.
      requireHostHeader: false,
      // Of a connection that is still being answered on, it is one more request.
      shouldUpgradeCallback: (request: IncomingMessage) =>
        this.#open.get(request.socket)?.answer === null && asksForWebSocket(request),
    };
    const door = tls && { ...tls, bounds, isProxy, connectionsMax: this.#max };
    const { server, serve } = createHttpServer(options, door, (socket) => {
      this.#arrivals.noteAccepted();
      take(socket, false);
    });
    server.setTimeout(connection.silenceMs, (socket) => this.#silent(socket));
    const take = (socket: Socket, isMoved: boolean) => {
      const connection = this.#admit(socket, handle);
      if (connection === null) return;
      connection.isMoved = isMoved;
      serve(socket);
      // What TLS knows of a connection stays in its process.
      if (!isMoved && !connection.isProxied && tls === null) connection.move = this.#moves?.follow(socket) ?? null;
    };
    homes?.onMoved((socket) => void (server.listening ? take(socket, true) : socket.destroy()));
    const arrive = (request: IncomingMessage, answer: Answer) => this.#arrive(request, answer);
    server.on('request', arrive).on('checkContinue', arrive).on('checkExpectation', arrive);
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    const looking = setInterval(() => this.#look(), connection.lookEveryMs).unref();
    server.on('close', () => clearInterval(looking));
    return server;
  }

  #admit(socket: Socket, handle: RequestListener): Connection | null {
    const { all } = this.#options.traffic.bounds;
    const address = socket.remoteAddress ?? '';
    const isProxied = this.#options.isProxy(address);
    const owner = isProxied ? `proxied ${this.#proxied++}` : networkOf(address);
    const spare = !this.#places.take(owner, 1);
    if (spare) this.#options.refusals.tell('connections');
    if (spare && this.#spare >= all.spareConnections) {
      socket.on('error', () => socket.destroy());
      socket.end(FULL, () => socket.destroy());
      return null;
    }
    if (spare) this.#spare += 1;
    const timer = spare ? setTimeout(() => socket.destroy(), all.spareConnectionMs) : null;
    const connection: Connection = {
      socket,
      owner,
      isProxied,
      spare,
      handle,
      next: () => this.#next(connection),
      answer: null,
      request: null,
      begunMs: 0,
      upload: null,
      move: null,
      isMoved: false,
      waiting: [],
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      if (timer !== null) clearTimeout(timer);
      this.#waiting -= connection.waiting.length;
      this.#open.delete(socket);
      if (spare) this.#spare -= 1;
      else this.#places.release(owner, 1);
    });
    return connection;
  }

  #arrive(request: IncomingMessage, answer: Answer): void {
    const connection = this.#open.get(request.socket);
    if (connection === undefined) return;
    if (connection.move !== null) connection.move.arrived += 1;
    if (connection.answer === null) {
      this.#begin(connection, request, answer);
      return;
    }
    const { bounds } = this.#options.traffic;
    if (connection.waiting.length >= bounds.connection.pipelinedMax || this.#waiting >= bounds.all.pipelinedMax) {
      this.#disconnect(connection);
      return;
    }
    this.#waiting += 1;
    connection.waiting.push([request, answer]);
    connection.socket.pause();
  }

  /** Node has left the connection. */
  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return void socket.destroy();
    connection.move = null;
    const clearAnswer = () => {
      connection.answer = null;
      connection.request = null;
    };
    this.#arrive(request, lastAnswer(request, head, clearAnswer));
  }

  #begin(connection: Connection, request: IncomingMessage, answer: Answer): void {
    const { handle } = connection;
    connection.answer = answer;
    connection.request = request;
    connection.begunMs = performance.now();
    answer.owner = connection.owner;
    answer.written = this.#unread;
    answer.once('close', connection.next);
    // Nobody of HTTP/1.0 waits to be told to go on (RFC 9110, 10.1.1).
    const expect = request.httpVersion === '1.1' ? request.headers.expect : undefined;
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(answer, 400);
    else if (connection.spare && !isHealth(request)) refuse(answer, 503);
    else if (expect !== undefined && !/^100-continue$/i.test(expect)) refuse(answer, 417);
    else if (isHealth(request)) handle(request, answer);
    else this.#arrivals.add(connection.owner, connection);
  }

  #go({ request, answer, handle }: Connection, waitedMs: number): void {
    if (request === null || answer === null) return;
    answer.waitedMs = waitedMs;
    if (request.httpVersion === '1.1' && request.headers.expect !== undefined) continueWhenRead(request, answer);
    handle(request, answer);
  }

  #refuse({ request, answer, owner }: Connection): void {
    if (request === null || answer === null) return;
    const { refusals, traffic, envelope } = this.#options;
    refusals.tell(OVERLOADED.code);
    traffic.record('(none)', OVERLOADED.httpStatus, 0);
    const tell = () => answerOverloaded(request, answer, envelope());
    const heldMs = refusals.holdMs(OVERLOADED, owner);
    if (heldMs === 0) tell();
    else setTimeout(tell, heldMs);
  }

  #next(connection: Connection): void {
    const { answer, request, move, socket, waiting } = connection;
    connection.answer = null;
    connection.request = null;
    connection.upload = null;
    const next = socket.writable ? waiting.shift() : undefined;
    if (next === undefined) {
      const isKnown = answer !== null && answer.owner !== connection.owner;
      if (move !== null && request !== null && isKnown) this.#moves?.noteAnswered(move, answer.owner, request);
      return;
    }
    this.#waiting -= 1;
    this.#begin(connection, next[0], next[1]);
    if (waiting.length === 0) socket.resume();
  }

  /** Nobody sends so many requests ahead of their answers. */
  #disconnect({ socket }: Connection): void {
    this.#options.refusals.tell('pipelines');
    // The parser would go on to the end of what it has, some 1,400 requests: at an answer that it does not know it stops (3.7 -> 1.0 ms).
    const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
    if (parser?.onIncoming !== undefined) parser.onIncoming = () => -1;
    socket.destroy();
  }

  /** The end of one that sends what is no HTTP, or too slowly: no code of the catalogue has status 408 (docs/contract.md, "Connections and time"). */
  end(socket: Socket, error?: Error): void {
    const connection = this.#open.get(socket);
    // One that was handed over is between two requests, where Node waits for the first: silence ends it, as any idle one.
    if (connection?.isMoved === true && socket.bytesRead === 0 && isTimeout(error)) return;
    // Once a request is complete, these bytes would pass for its answer.
    const answers = connection === undefined || connection.request === null || !connection.request.complete;
    if (answers && socket.writable && connection?.answer?.headersSent !== true) socket.write(BAD_REQUEST);
    // Whoever keeps their side open would otherwise keep the socket.
    socket.destroySoon();
  }

  /** No byte has moved for the bound of silence. A call that waits for a vendor is silent too, and has a time of its own. */
  #silent(socket: Socket): void {
    const { silenceMs, answeringMs } = this.#options.traffic.bounds.connection;
    const connection = this.#open.get(socket);
    const isAnswering = connection !== undefined && answers(connection);
    if (isAnswering && performance.now() - connection.begunMs < answeringMs) socket.setTimeout(silenceMs);
    else socket.destroy();
  }

  #look(): void {
    const nowMs = performance.now();
    const { connection: bounds } = this.#options.traffic.bounds;
    for (const connection of this.#open.values()) {
      const { answer, begunMs, request, socket, upload } = connection;
      if (request === null || answer === null) continue;
      // Of a client that has not been told to go on, nothing can come.
      connection.upload = answer.asksToGoOn ? null : stalls(upload, request, answer.takesLong, bounds, nowMs);
      const isLate = !request.complete && !answer.takesLong && nowMs - begunMs > bounds.requestTimeoutMs;
      if (isLate || connection.upload?.stalled === true) this.end(socket);
    }
    this.#unread.cutSlow(nowMs);
  }
}

/** The call is here whole, its answer is being made, and the client has read what there is of it. */
function answers({ answer, request, socket }: Connection): boolean {
  return answer !== null && request?.complete === true && !answer.writableEnded && socket.writableLength === 0;
}

function isTimeout(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}
