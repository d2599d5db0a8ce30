// One call on its way through the pipeline. The steps fill it in; the capability sees it as its CallContext.

import type { IncomingHttpHeaders } from 'node:http';
import type { Tier } from '../core/accounts/tiers.ts';
import type { CallContext, Core } from '../core/context.ts';
import type { EntryForm } from '../core/entry-form.ts';
import type { IdempotencyKey } from '../core/idempotency/key.ts';
import type { ScopeKind } from '../core/keys/scopes.ts';
import type { Principal } from '../core/principal.ts';
import { newId } from '../lib/ids.ts';
import type { BulkOutcome } from './bulk/outcome.ts';
import type { Endpoint } from './endpoint.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { traceIdOf, traceparentOf } from './trace-context.ts';

/** What a surface hands in. */
export interface Request {
  /** A header sent several times has its values joined by `, ` here (Node). */
  readonly headers: IncomingHttpHeaders;
  /** Every value sent for a header, by its lower-case name. */
  headerValues(name: string): readonly string[];
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters; a repeated name has several values. */
  readonly query: URLSearchParams;
  readonly remoteAddress: string;
  /** Called once when the client goes away before the answer. */
  onGone(listener: () => void): void;
}

/** What the call may do with its place among those that run. */
export interface AnsweringPlace {
  idle(): void;
  make(bytes: number): void;
  made(bytes: number): void;
  requireRoom(): void;
}

export class Call implements CallContext {
  readonly core: Core;
  readonly endpoint: Endpoint;
  readonly request: Request;
  readonly entryForm: EntryForm = 'rest';
  readonly startedMs = performance.now();
  readonly requestId = newId('req_');
  readonly traceId: string;
  readonly warnings: string[] = [];
  /** Response headers beyond the common ones. */
  readonly headers: Record<string, string> = {};
  /** The key that another protocol brings in its own way (null: none); undefined: it stands in the Authorization header. */
  secret: string | null | undefined = undefined;
  body: Buffer | null = null;
  /** In place of `body` where bodies may be long. */
  blocks: readonly Uint8Array<ArrayBuffer>[] | null = null;
  bodyText = '';
  input: Record<string, unknown> = {};
  /** Of a body that was read elsewhere. */
  bulk: BulkOutcome | null = null;
  idempotency: IdempotencyKey | null = null;
  /** Of a call whose rate is limited. */
  limiter: RateLimiter | null = null;
  finished = false;
  /** The lane has counted it with its price. */
  billed = false;
  #principal: Principal | null = null;
  #authenticatedMs = 0;
  #abort: AbortController | null = null;
  #releases: (() => void)[] | null = [];
  /** Among the calls that run. */
  place: AnsweringPlace | null = null;

  constructor(core: Core, endpoint: Endpoint, request: Request) {
    this.core = core;
    this.endpoint = endpoint;
    this.request = request;
    this.traceId = traceIdOf(request.headers);
  }

  get capability(): string {
    return this.endpoint.capability.id;
  }

  get scope(): ScopeKind {
    return this.endpoint.capability.scope;
  }

  get priceEntry(): string | null {
    const { price } = this.endpoint.capability;
    return price === 'free' ? null : price.book;
  }

  get accountId(): string {
    return this.principal.accountId;
  }

  get tier(): Tier {
    return this.principal.tier;
  }

  /** Who calls; reading it before the authenticate step is a programming error. */
  get principal(): Principal {
    if (this.#principal === null) throw new Error('the call is not authenticated yet');
    return this.#principal;
  }

  get authenticated(): boolean {
    return this.#principal !== null;
  }

  /** Milliseconds since the key was looked up. */
  get authenticationAgeMs(): number {
    return performance.now() - this.#authenticatedMs;
  }

  authenticate(principal: Principal): void {
    this.#principal = principal;
    this.#authenticatedMs = performance.now();
  }

  weigh(tokens: number): void {
    const { limitClass } = this.endpoint;
    if (this.limiter === null || limitClass === 'none' || tokens === 0) return;
    this.headers.ratelimit = this.limiter.spend(this.accountId, this.tier, limitClass, tokens);
  }

  /** Keeps a place until the call is over. The client may have left meanwhile: `release` then runs at once. */
  occupy(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  idle(): void {
    this.place?.idle();
  }

  holdAnswer(bytes: number): void {
    this.place?.make(bytes);
  }

  holdMade(bytes: number): void {
    this.place?.made(bytes);
  }

  requireAnswerRoom(): void {
    this.place?.requireRoom();
  }

  /** Ends what the call occupies; later calls do nothing. */
  release(): void {
    const releases = this.#releases ?? [];
    this.#releases = null;
    for (const release of releases) release();
  }

  get traceparent(): string {
    return traceparentOf(this.traceId);
  }

  /** Made on demand: most calls never wait for anything that the client's leaving should end. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      const abort = new AbortController();
      this.#abort = abort;
      this.request.onGone(() => abort.abort());
    }
    return this.#abort.signal;
  }
}
