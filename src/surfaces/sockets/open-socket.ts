// One open socket: its messages in order, within its rates, and no faster than its module takes them; its resources, and its end.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { EntryForm } from '../../core/callers/entry-form.ts';
import type { Principal } from '../../core/callers/principal.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { identify } from '../../gateway/identify.ts';
import { admitAhead } from '../../gateway/invoke.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import {
  type RawSocket,
  type SocketEnd,
  type SocketHead,
  type SocketListener,
  type SocketRoute,
  socketEnds,
} from '../../kit/socket-route.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { callFor, performFor } from './call.ts';
import type { Ending, OpenSockets } from './open-sockets.ts';
import { Allowance } from './pace.ts';
import { Pings } from './pings.ts';
import type { SocketPlace } from './places.ts';
import { Reading } from './reading.ts';

/** What a socket was accepted with. */
export interface Accepted {
  readonly sockets: OpenSockets;
  readonly gateway: Gateway;
  readonly route: SocketRoute;
  /** Of the route's capability; null: it has none. */
  readonly endpoint: Endpoint | null;
  readonly entryForm: EntryForm;
  readonly requestId: string;
  readonly traceId: string;
  readonly remoteAddress: string;
  readonly place: SocketPlace;
}

type SentCall = Parameters<RawSocket['invoke']>;

export class OpenSocket implements RawSocket {
  principal: Principal | null;
  readonly #accepted: Accepted;
  readonly #ws: WebSocket;
  readonly #tcp: Socket;
  readonly #openedMs = performance.now();
  #listener: SocketListener | null = null;
  /** It came while the module was busy with another one, or is to be handled in a later turn: nothing behind it is read. */
  #waiting: string | Buffer | null = null;
  /** Until it is open, and while a message is being handled. */
  #isBusy = true;
  #abort: AbortController | null = null;
  #end: Ending | null = null;
  /** The close frame that is to be sent. */
  #farewell: readonly [code?: number, reason?: string] | null = null;
  #endedMs = 0;
  #closedCode: number | null = null;
  readonly #allowance: Allowance;
  readonly #reading: Reading;
  readonly #pings: Pings;
  #messagesIn = 0;
  #messagesOut = 0;

  constructor(ws: WebSocket, tcp: Socket, principal: Principal | null, accepted: Accepted) {
    this.#ws = ws;
    this.#tcp = tcp;
    this.principal = principal;
    this.#accepted = accepted;
    this.#allowance = new Allowance(accepted.sockets.bounds);
    this.#reading = new Reading(ws);
    this.#pings = new Pings(ws, accepted.sockets.bounds);
  }

  get protocol(): string {
    return this.#ws.protocol;
  }

  /** Whose share it takes. */
  get owner(): string {
    return this.#accepted.place.owner;
  }

  get endpoint(): Endpoint | null {
    return this.#accepted.endpoint;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#end !== null) this.#abort.abort();
    return this.#abort.signal;
  }

  /** From now on it is heard. Called in the turn in which the handshake was answered. */
  async begin(head: SocketHead, state: unknown): Promise<void> {
    const { route } = this.#accepted;
    this.#ws
      .on('message', (data, isBinary) => this.#receive(isBinary ? (data as Buffer) : data.toString()))
      .on('ping', (data) => this.#spend(1, 0) && this.#pings.answer(data, this.#mayGoOn()))
      .on('pong', () => this.#spend(1, 0) && this.#mayGoOn())
      // The library has sent the close frame.
      .on('error', () => this.#over('protocol'))
      .on('close', (code) => this.#release(code));
    // After the library, which has read the piece by then.
    this.#tcp.on('data', (piece) => this.#spend(0, piece.length));
    try {
      this.#listener = await route.open(this, head, state);
      // It may have closed meanwhile.
      if (this.#closedCode !== null) this.#tellClosed(this.#closedCode);
      this.#finishMessage();
    } catch (error) {
      this.#fail(error);
    }
  }

  async identify(credential: Credential | null): Promise<Principal> {
    const { gateway, endpoint, remoteAddress, place } = this.#accepted;
    if (this.principal !== null) throw new Error('the socket has identified itself already');
    const principal = await identify(gateway, credential, remoteAddress);
    if (endpoint !== null) await admitAhead(gateway, { endpoint, principal });
    else if (principal.suspended) throw problem('ACCOUNT_SUSPENDED');
    await place.claim(principal.accountId);
    this.principal = principal;
    return principal;
  }

  async invoke(...[capability, input, options]: SentCall) {
    const idempotencyKey = options?.idempotencyKey ?? null;
    return callFor(this.#accepted, this, capability, { input, idempotencyKey });
  }

  async perform(...[capability, input, work]: Parameters<RawSocket['perform']>) {
    return performFor(this.#accepted, this, capability, input, work);
  }

  send(message: string | Uint8Array, kind: 'text' | 'binary' = typeof message === 'string' ? 'text' : 'binary') {
    if (this.#end !== null || this.#ws.readyState !== this.#ws.OPEN) return false;
    this.#messagesOut += 1;
    this.#ws.send(message, { binary: kind === 'binary' });
    if (this.#ws.bufferedAmount > 0) this.#count();
    return this.#end === null;
  }

  close(code = 1000, reason = ''): void {
    this.#over('module', code, reason);
  }

  /** Ends it for a reason of the service. */
  end(why: SocketEnd, reason = ''): void {
    this.#over(why, this.#accepted.route.closeCodes?.[why] ?? socketEnds[why], reason);
  }

  endRights({ code }: Problem): void {
    this.end('rights', code);
  }

  /** At each look at all sockets. */
  look(nowMs: number): void {
    const { bounds } = this.#accepted.sockets;
    if (this.#end !== null || this.#ws.readyState !== this.#ws.OPEN) {
      if (this.#endedMs === 0) this.#endedMs = nowMs;
      if (nowMs - this.#endedMs > bounds.closeWithinMs) this.#ws.terminate();
      return;
    }
    this.#count();
    if (this.principal === null && nowMs - this.#openedMs > bounds.identifyWithinMs)
      this.end('unidentified', 'UNAUTHORIZED');
    else if (!this.#pings.look(nowMs)) this.terminate();
  }

  /** Without a farewell. */
  terminate(): void {
    this.#end ??= 'silent';
    this.#ws.terminate();
  }

  #receive(message: string | Buffer): void {
    if (!this.#spend(1, 0)) return;
    this.#messagesIn += 1;
    if (!this.#isBusy && this.#mayGoOn()) this.#handle(message);
    else {
      this.#waiting = message;
      this.#reading.stop();
    }
  }

  /** Its turn, or its module, has come: says farewell, or handles what waits, and reads on. */
  goOn(): void {
    if (this.#farewell !== null) {
      const [code, reason] = this.#farewell;
      this.#farewell = null;
      this.#ws.close(code, reason);
    } else if (this.#waiting !== null) {
      if (this.#isBusy || !this.#mayGoOn()) return;
      const message = this.#waiting;
      this.#waiting = null;
      this.#handle(message);
    }
    this.#reading.goOn();
  }

  /** False: the frame is to wait for a later turn, and those behind it. */
  #mayGoOn(): boolean {
    if (this.#accepted.sockets.pace.take(this)) return true;
    this.#reading.stop();
    return false;
  }

  #finishMessage(): void {
    this.#isBusy = false;
    this.goOn();
  }

  #handle(message: string | Buffer): void {
    try {
      const handled = this.#listener?.message(message);
      if (handled === undefined) return;
      this.#isBusy = true;
      handled.then(
        () => this.#finishMessage(),
        (error: unknown) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Takes of what it may send, and counts what it holds; false: it is over. */
  #spend(messages: number, bytes: number): boolean {
    if (this.#end !== null) {
      if (messages > 0) this.#mayGoOn();
      return false;
    }
    if (this.#allowance.spend(messages, bytes)) this.#count();
    else this.end('flood', 'RATE_LIMITED');
    return this.#end === null;
  }

  /** Counts what it holds now. */
  #count(): void {
    const { place, sockets } = this.#accepted;
    const unread = this.#ws.bufferedAmount;
    if (!place.hold(unread + this.#reading.heldBytes)) this.end('full', 'OVERLOADED');
    else if (unread > sockets.bounds.unreadBytesMax) this.end('slow', 'messages were not read');
  }

  #fail(error: unknown): void {
    const failure = toProblem(error);
    const { gateway, route, requestId } = this.#accepted;
    const cause = failure.cause ?? failure;
    if (failure.httpStatus === 500) {
      gateway.core.log.error({ err: cause, request_id: requestId, route: route.name }, 'a socket failed');
    }
    this.end('failed', failure.code);
  }

  #over(why: Ending, code?: number, reason?: string): void {
    if (this.#end !== null) return;
    this.#end = why;
    this.#endedMs = performance.now();
    this.#waiting = null;
    this.#abort?.abort();
    // The answer to the close frame is to be read, but not all that may come before it.
    if (why === 'flood' || why === 'full') this.#reading.end();
    this.#farewell = [code, reason];
    const { pace } = this.#accepted.sockets;
    if (pace.isOver) pace.later(this);
    else this.goOn();
  }

  #release(code: number): void {
    const { sockets, gateway, place, requestId, route } = this.#accepted;
    this.#end ??= 'client';
    this.#waiting = null;
    this.#abort?.abort();
    place.release();
    sockets.remove(this, route.name, this.#end);
    const { bytesRead: bytes_in, bytesWritten: bytes_out } = this.#tcp;
    const ms = Math.round(performance.now() - this.#openedMs);
    const counts = { messages_in: this.#messagesIn, messages_out: this.#messagesOut, bytes_in, bytes_out };
    const told = { request_id: requestId, route: route.name, code, end: this.#end, ms, ...counts };
    gateway.core.log.debug(told, 'a socket has closed');
    this.#closedCode = code;
    this.#tellClosed(code);
  }

  #tellClosed(code: number): void {
    const { gateway, requestId, route } = this.#accepted;
    try {
      this.#listener?.onClose?.(code);
    } catch (err) {
      gateway.core.log.error({ err, request_id: requestId, route: route.name }, 'a socket failed at its end');
    }
  }
}
