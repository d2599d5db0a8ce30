// Port of guarded outbound HTTP. An address that users or an answer name must be public (contract of webhooks); one that the operator
// configured may be private. Webhooks, queue push, cron and every vendor use nothing else.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All of it, from the look-up to the answer; 15 s when absent. */
  readonly timeoutMs?: number;
  /** Ends the attempt early: the process stops. */
  readonly signal: AbortSignal;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: HttpMethod;
  /** Sent to every origin that the request is led to. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Such as a vendor's key: sent to `operator.origin` only; without `operator`, to the origin of `url` only. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** A form is sent as multipart/form-data (RFC 7578). A stream is read as fast as the receiver takes it. */
  readonly body?: string | Uint8Array | Readable | FormData | null;
  /** Length of a stream, where it is known: many receivers take no chunked body. */
  readonly bodyBytes?: number;
  /** What the operator wrote: it may be private, and plain http. Everything else is read through the guard: ALLOW_PRIVATE_SOURCES exempts. */
  readonly operator?: {
    readonly origin: string;
    /** `host`, or `host:port` where that is not the usual one; where a vendor keeps what it makes. */
    readonly assetHosts?: readonly string[];
  };
  /** A page of the web: plain http too, of ports 80 and 443 alone. An `accept-encoding` among the headers is taken at its word. */
  readonly isOfWeb?: boolean;
  /** What nobody but a page of the web names: ALLOW_PRIVATE_SOURCES exempts nothing from the guard. */
  readonly isPublicOnly?: boolean;
  /** Of GET and HEAD; each is checked as the first address was. Default 0: the redirect itself is the answer. */
  readonly redirectsMax?: number;
  readonly limits: OutboundCallLimits;
  readonly signal: AbortSignal;
}

/** What one call may take. */
export interface OutboundCallLimits {
  /** Look-up, TCP and TLS, over all addresses tried. Default 5 s. */
  readonly connectMs?: number;
  /** From the last byte sent to the answer's head. */
  readonly firstByteMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** All of it, redirects and body included. */
  readonly totalMs: number;
  readonly answerBytesMax: number;
  /** Of a streamed body. */
  readonly bodyBytesMax?: number;
}

/** Why no answer came. `refused` = the address may not be reached (contract of webhooks), and trying again will not help. */
export type OutboundFailure = 'refused' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol' | 'aborted';

interface Failed {
  readonly kind: 'failed';
  readonly code: OutboundFailure;
  /** One sentence for the owner of the URL; never an address that was refused. */
  readonly message: string;
  readonly latencyMs: number;
}

export type OutboundOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** As sent by the receiver. */
      readonly retryAfter: string | null;
      /** At most 1 KiB of the answer's text. */
      readonly snippet: string;
      readonly latencyMs: number;
    }
  | Failed;

export type OutboundReply =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** Where it came from, after redirects. */
      readonly url: string;
      /** ALLOW_PRIVATE_SOURCES exempts it, or the operator wrote it. */
      readonly isExempt: boolean;
      /** To be read to its end, or destroyed. Fails with an Error whose `code` is an OutboundFailure. */
      readonly body: Readable;
      readonly latencyMs: number;
    }
  /** `sent`: something of the request may have reached the receiver, which may be at work on it. */
  | (Failed & { readonly sent: boolean });

/** A TCP connection whose bytes are the caller's own, to a host that the caller names. */
export interface OutboundTunnel {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** ALLOW_PRIVATE_SOURCES exempts nothing from the guard. */
  readonly isPublicOnly?: boolean;
  /** Of the opening alone. */
  readonly signal: AbortSignal;
}

export type TunnelReply =
  /** The socket is half open when one side has ended: whoever gets it closes it. */
  { readonly kind: 'open'; readonly socket: Socket } | Failed;

export interface OutboundClient {
  /**
   * Checks a URL that a user registers to be called (`target`) or read (`source`), resolving its host. Answers a warning when the host does not
   * resolve now, else null. Throws WEBHOOK_URL_REJECTED (detail = the rule, param = `param`).
   */
  checkUrl(url: string, param: string, use?: 'target' | 'source'): Promise<string | null>;
  /** One attempt at a user's URL: connect within 5 s, all within `timeoutMs`, no redirects. ALLOW_PRIVATE_TARGETS exempts. Never rejects. */
  post(request: OutboundPost): Promise<OutboundOutcome>;
  /** One request within its own limits, of any method, with bodies that may be streams. Never rejects, and tries nothing twice. */
  send(request: OutboundRequest): Promise<OutboundReply>;
  /** Connects to a checked address of the host, at a port that a URL may name and this service does not listen on. Never rejects. */
  openTunnel(request: OutboundTunnel): Promise<TunnelReply>;
  /** Closes idle connections. */
  close(): Promise<void>;
}
