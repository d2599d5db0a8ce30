// One call in progress. The gateway fills it in step by step; the capability sees it as its CallContext.

import type { Asked, CallApproval } from '../approvals/call-approval.ts';
import type { InvokedInput, InvokeOptions, OwnRule, Performed } from '../core/callers/context.ts';
import type { IdempotencyKey } from '../core/callers/idempotency-key.ts';
import type { Principal } from '../core/callers/principal.ts';
import { type ScopeKind, scopesAllow } from '../core/callers/scopes.ts';
import type { Tier } from '../core/callers/tiers.ts';
import type { Span } from '../core/tracing/tracing.ts';
import type { Answer } from '../kit/capability.ts';
import type { CallContext, Services } from '../kit/services.ts';
import { isDisconnected } from '../problems/disconnected.ts';
import type { Problem } from '../problems/problem.ts';
import { ActiveRequest, type Origin } from './active-request.ts';
import { beginCallSpan, endCallSpan } from './call-span.ts';
import type { Endpoint } from './endpoint.ts';
import type { Rates } from './limits/rate-limiter.ts';
import type { Traffic } from './limits/traffic.ts';
import { logCall } from './log-call.ts';

/** The capability whose scope lets a key look at one call. */
const REQUEST_LOG = 'account.requests.get';
/** Free calls of the console by visitors who signed in with a key, in usage. */
const CONSOLE_CALLER = 'console';
/** As nginx counts a client that has closed its request. */
const LEFT_STATUS = 499;

/** What a call uses of the gateway. */
export interface CallServices {
  readonly core: Services;
  readonly traffic: Pick<Traffic, 'record'>;
  invokeWithin(parent: Call, capability: string, input: InvokedInput, options: InvokeOptions): Promise<Answer>;
  performWithin(
    parent: Call,
    capability: string,
    input: Readonly<Record<string, unknown>>,
    work: (call: Call) => Promise<Answer>,
  ): Promise<Answer>;
  askFirst(call: Call, rule: OwnRule): Promise<void>;
}

export class Call extends ActiveRequest implements CallContext {
  readonly core: Services;
  readonly endpoint: Endpoint;
  input: Record<string, unknown> = {};
  inputText = '';
  sentHeaders: Readonly<Record<string, string>> = {};
  idempotency: IdempotencyKey | null = null;
  approval: CallApproval | null = null;
  /** What rules look at; null: it does not run under them yet. */
  asked: Asked | null = null;
  /** Its caller asks to have unknown fields ignored with a warning. */
  ignoresUnknown = false;
  /** Of a call whose rate is limited. */
  limiter: Rates | null = null;
  /** The lane has counted it with its price. */
  billed = false;
  /** What the calls that it made have cost. */
  spentNanos = 0n;
  /** What the last of them that was paid left. */
  leftNanos: bigint | undefined;
  /** Of a failure that was charged. */
  usageEstimated: boolean | undefined;
  /** Once it is known. */
  answer: Answer | null = null;
  failure: Problem | null = null;
  /** Of its input as text; null: what its request announced. */
  bytesIn: number | null = null;
  /** As it was sent; null: there is none, it comes as a stream, or it is long and may be handed over to a thread. */
  body: Buffer | null = null;
  /** Of an input that is read elsewhere, and that a rule may meet: what tells it from others. */
  contentHash = '';
  /** How many calls stand between it and the caller. */
  readonly depth: number;
  /** Calls that it made so far. */
  made = 0;
  /** Null: there are no traces. */
  readonly #span: Span | null;
  readonly #services: CallServices;
  #ended = false;
  #principal: Principal | null = null;
  #identifiedMs = 0;

  constructor(services: CallServices, endpoint: Endpoint, origin: Origin, depth = 0) {
    super(origin);
    this.#services = services;
    this.core = services.core;
    this.endpoint = endpoint;
    this.depth = depth;
    const { tracing } = services.core;
    this.#span = tracing === null ? null : beginCallSpan(tracing, this.traceId, this.sender);
  }

  override get traceparent(): string {
    return this.#span?.traceparent ?? super.traceparent;
  }

  /** Runs `work` in the span of the call: what it begins is a part of it. */
  trace<Result>(work: () => Result): Result {
    const { tracing } = this.core;
    return tracing === null || this.#span === null ? work() : tracing.within(this.#span, work);
  }

  get capability(): string {
    return this.endpoint.capability.id;
  }

  get scope(): ScopeKind {
    return this.endpoint.capability.scope;
  }

  get priceEntry(): string | null {
    const { price } = this.endpoint.capability;
    return price === 'free' ? null : price;
  }

  get accountId(): string {
    return this.principal.accountId;
  }

  get tier(): Tier {
    return this.principal.tier;
  }

  /** Who calls; reading it before `setPrincipal` is a programming error. */
  get principal(): Principal {
    if (this.#principal === null) throw new Error('it is not known yet who calls');
    return this.#principal;
  }

  get readsLog(): boolean {
    if (this.#principal === null || this.depth > 0) return false;
    return scopesAllow(this.#principal.scopes, REQUEST_LOG, 'read');
  }

  get isIdentified(): boolean {
    return this.#principal !== null;
  }

  /** Milliseconds since the principal was looked up. */
  get identificationAgeMs(): number {
    return performance.now() - this.#identifiedMs;
  }

  setPrincipal(principal: Principal): void {
    this.#principal = principal;
    this.#identifiedMs = performance.now();
  }

  invoke(capability: string, input: InvokedInput, options: InvokeOptions = {}): Promise<Answer> {
    return this.#services.invokeWithin(this, capability, input, options);
  }

  async perform<Result>(
    capability: string,
    input: Readonly<Record<string, unknown>>,
    work: (ctx: CallContext) => Promise<Performed<Result>>,
  ): Promise<Result> {
    const answer = await this.#services.performWithin(this, capability, input, async (call) => {
      const { result: data, costNanos } = await work(call);
      return { data, costNanos };
    });
    return answer.data as Result;
  }

  /**
   * Counts the call, once: in the metrics under `name`, in its account's usage unless its charge has, and where it is worth a look in the request
   * log. `text`: the answer, where it goes out as a whole.
   */
  end(status: number, text: string | Buffer | null = null, name = this.capability): void {
    if (this.#ended) return;
    this.#ended = true;
    const latencyMs = performance.now() - this.startedMs;
    const isLeft = this.failure !== null && isDisconnected(this.failure);
    this.#services.traffic.record(name, isLeft ? LEFT_STATUS : status, latencyMs);
    if (this.#span !== null) this.#endSpan(this.#span, status, name);
    if (this.#principal === null) return;
    if (this.depth === 0 && !isLeft) logCall(this, { status, failure: this.failure, latencyMs, text });
    if (this.billed && this.endpoint.capability.chargedAtEnd !== true) return;
    // What the console calls for free is no use of the key that somebody signed in with.
    const { id } = this.#principal;
    const caller = this.entryForm === 'console' && id.startsWith('key_') ? CONSOLE_CALLER : id;
    this.core.usage.count(this.accountId, caller, this.capability, status >= 400 && !isLeft);
  }

  #endSpan(span: Span, status: number, name: string): void {
    const { requestId, entryForm, depth, sender, endpoint, failure } = this;
    const accountId = this.#principal?.accountId ?? null;
    endCallSpan(span, { accountId, requestId, entryForm, depth, sender, endpoint, failure }, status, name);
  }

  askFirst(rule: OwnRule): Promise<void> {
    return this.#services.askFirst(this, rule);
  }

  chargedThoughFailed(costNanos: bigint, usageEstimated: boolean): void {
    if (costNanos === 0n) return;
    this.usageEstimated = usageEstimated;
    this.spentNanos += costNanos;
    this.billed = true;
  }

  weigh(tokens: number): void {
    const { limitClass } = this.endpoint;
    if (this.limiter === null || limitClass === 'none' || tokens === 0) return;
    this.headers.ratelimit = this.limiter.spend(this.accountId, this.tier, limitClass, tokens);
  }
}
