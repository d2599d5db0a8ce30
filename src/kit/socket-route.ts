// A raw route for WebSockets (RFC 6455). The surface does the handshake, admission, bounds, pings and closing. The module reads and sends
// messages and writes no HTTP.
import type { InvokedInput } from '../core/callers/context.ts';
import type { Principal } from '../core/callers/principal.ts';
import type { Credential } from '../core/credentials/credential.ts';
import type { Answer } from './capability.ts';
import type { RawHead, RawOutcome, RawRoute } from './raw-route.ts';
import type { CallContext } from './services.ts';

/** Why the service closes a socket, with the code that it is closed with. */
export const socketEnds = {
  /** Its key, or what else it was identified by, has ended or was narrowed, or the account was suspended: the reason is the error code. */
  rights: 1008,
  /** It has not identified itself in time. */
  unidentified: 1008,
  /** More messages or bytes in a second than `admission.webSocket` allows. */
  flood: 1008,
  /** It has not read what was sent to it. */
  slow: 1013,
  /** All sockets together, or its account, hold too many bytes. */
  full: 1013,
  /** The service stops. */
  stop: 1012,
  /** The route has failed. */
  failed: 1011,
} as const;

export type SocketEnd = keyof typeof socketEnds;

/** What is known of the request that became the socket. */
export type SocketHead = Pick<RawHead, 'params' | 'query' | 'headers' | 'remoteAddress' | 'url' | 'requestId'>;

export interface RawSocket {
  /** The subprotocol that both speak; empty: none. */
  readonly protocol: string;
  /** Who opened it, as they are now; null: it has not identified itself. */
  readonly principal: Principal | null;
  /** Aborted when the socket closes, whoever closes it. */
  readonly signal: AbortSignal;
  /**
   * Identifies a socket of a route with `identifiesLater`, once: who calls, failing addresses, scope, rate and the bounds of its account, as of
   * every call. Throws the Problem of a refusal; the socket stays open for another try.
   */
  identify(credential: Credential | null): Promise<Principal>;
  /** Calls a capability of any module for whoever opened the socket. Never throws for what it fails with. */
  invoke(capability: string, input: InvokedInput, options?: { readonly idempotencyKey?: string }): Promise<RawOutcome>;
  /**
   * Makes a call of a capability of the module by `work`, in place of the capability's own run: for a protocol that reads its input itself.
   * Scope, rates and figures are the capability's. `input`: what tells the call from others, in its names. Throws the Problem of a refusal or
   * failure.
   */
  perform(
    capability: string,
    input: Readonly<Record<string, unknown>>,
    work: (ctx: CallContext) => Promise<Answer>,
  ): Promise<Answer>;
  /** False: the socket is closed or closing. Bytes are a binary message unless `kind` says that they are the UTF-8 of a text. */
  send(message: string | Uint8Array, kind?: 'text' | 'binary'): boolean;
  /** `code`: 1000 or one of the route's protocol; `reason`: up to 123 bytes. Nothing more is read. */
  close(code?: number, reason?: string): void;
}

/** What a module does with one socket. */
export interface SocketListener {
  /** A text, or the bytes of a binary message. Messages come in order: while this returns a promise, no further one is read. */
  message(message: string | Buffer): void | Promise<void>;
  /** Once, when the socket has closed. */
  onClose?(code: number): void;
}

export interface SocketRoute<State = unknown>
  extends Pick<RawRoute<State>, 'name' | 'path' | 'capability' | 'entryForm' | 'credentialOf' | 'refuse'> {
  /** Subprotocols that it speaks, the preferred one first. Absent: none. */
  readonly protocols?: readonly string[];
  /** Whether pages of other sites may open it; absent: only those of the service, and what is no browser. */
  readonly anyOrigin?: true;
  /** Who shows no credential in the head is let in, and calls `identify` within `admission.webSocket.identifyWithinMs`. */
  readonly identifiesLater?: true;
  /** Bytes of a message, all fragments together; `admission.webSocket.messageBytesMax` when absent. */
  readonly messageBytesMax?: number;
  /** Codes of the route's protocol, in place of those of `socketEnds`. */
  readonly closeCodes?: Readonly<Partial<Record<SocketEnd, number>>>;
  /** A socket has opened. Its messages wait until this resolves. What is thrown closes it. */
  open(socket: RawSocket, head: SocketHead, state: State): SocketListener | Promise<SocketListener>;
}
