// Per-request state that the server's hooks share, and the request as the gateway sees it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EntryForm } from '../../core/callers/entry-form.ts';
import type { Principal } from '../../core/callers/principal.ts';
import type { BodyCredential, BodyProof } from '../../core/credentials/credential.ts';
import type { ActiveRequest, Origin } from '../../gateway/active-request.ts';
import type { Call } from '../../gateway/call.ts';
import type { Identity } from '../../gateway/envelope.ts';
import type { Place } from '../../gateway/limits/traffic.ts';
import { traceIdOf } from '../../gateway/trace-context.ts';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { newId } from '../../lib/ids.ts';
import type { Problem } from '../../problems/problem.ts';
import { onClosed } from '../http/answer.ts';
import type { Blocks } from './blocks.ts';

export interface CallSlot {
  arrived?: CallRequest;
  call?: Call;
  place?: Place;
  /** The handler runs: what it does goes on when the client leaves, and so counts until it ends. */
  handling?: boolean;
  closed?: boolean;
  /** Its failure is told, or about to be. */
  refused?: boolean;
  /** The body of a capability whose bodies may be long. */
  blocks?: Blocks;
  /** Set by raw routes. */
  raw?: RawSlot;
}

export interface RawSlot {
  /** For metrics. */
  readonly name: string;
  readonly identity: Identity;
  /** What it occupies: its call, where the route is one of a capability. */
  readonly visit?: ActiveRequest;
  /** Who sent it, once that is known, and what the credential says of the body. */
  principal?: Principal;
  proof?: BodyProof | null;
  /** Header fields of its answer, whatever it is. */
  headers?: Readonly<Record<string, string>>;
  /** What its body is to complete, as it arrives. */
  signing?: Signing;
  /** Null: the failure is told by the JSON envelope. */
  refuse(failure: Problem): RawAnswer | null;
}

export interface Signing {
  readonly credential: BodyCredential;
  /** The address and the key that it names, for which wrong ones are counted. */
  readonly guesser: string;
}

export function slotOf(request: FastifyRequest): CallSlot {
  const holder = request as unknown as { slot: CallSlot | null };
  holder.slot ??= {};
  return holder.slot;
}

/** Fastify's form of a path with `{name}` parameters. */
export function urlOf(path: string): string {
  return path.replace(/\{[a-z_]+\*\}$/, '*').replaceAll(/\{([a-z_]+)\}/g, ':$1');
}

/** For requests without a call: unknown routes, unreadable requests. */
export function identify(request: FastifyRequest): Identity {
  return {
    requestId: newId('req_'),
    traceId: traceIdOf(request.headers),
    startedMs: performance.now(),
    entryForm: 'rest',
    warnings: [],
  };
}

/**
 * What is known of a request. A class, because V8 gives every object literal with an accessor a shape of its own, which lives, with all that the accessor
 * sees, until the next full collection: measured, 4 KB of each call, and a fifth of the rate of a call that does nothing.
 */
export class ArrivedRequest {
  protected readonly request: FastifyRequest;

  constructor(request: FastifyRequest) {
    this.request = request;
  }

  get headers() {
    return this.request.headers;
  }

  get params() {
    return this.request.params as Record<string, string>;
  }

  get query() {
    return this.request.query as URLSearchParams;
  }

  /** Every value sent for a header, by its lower-case name; in `headers` they are joined by `, `. */
  headerValues(name: string) {
    return this.request.raw.headersDistinct[name] ?? [];
  }

  get traceId() {
    return traceIdOf(this.request.headers);
  }

  get remoteAddress() {
    return this.request.ip;
  }
}

/** The same, to begin a call with. */
export class CallRequest extends ArrivedRequest implements Origin {
  readonly entryForm: EntryForm;
  readonly #response: FastifyReply['raw'];

  constructor(request: FastifyRequest, reply: FastifyReply, entryForm: EntryForm = 'rest') {
    super(request);
    this.entryForm = entryForm;
    this.#response = reply.raw;
  }

  get sender() {
    return this;
  }

  get method() {
    return this.request.method;
  }

  get path() {
    return this.request.raw.url?.split('?', 1)[0] ?? '';
  }

  get bodyBytes() {
    const announced = this.request.headers['content-length'];
    return announced === undefined ? null : Number(announced);
  }

  get traceparent() {
    return this.request.headers.traceparent;
  }

  onGone(listener: () => void) {
    const response = this.#response;
    onClosed(response, () => {
      if (!response.writableFinished) listener();
    });
  }
}
