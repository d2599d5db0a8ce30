// A raw route's request as its module sees it: before its body is read, and with it.
import type { FastifyRequest } from 'fastify';
import type { Asked } from '../../approvals/call-approval.ts';
import { NOBODY } from '../../core/account-places.ts';
import type { EntryForm } from '../../core/callers/entry-form.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { scopesAllow } from '../../core/callers/scopes.ts';
import { tokenWorth } from '../../core/callers/tiers.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import { KEY_FIELD } from '../../core/idempotency/fingerprint.ts';
import type { ActiveRequest } from '../../gateway/active-request.ts';
import { askedBy, askedWith, enterRules } from '../../gateway/approvals.ts';
import type { Call } from '../../gateway/call.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Envelope } from '../../gateway/envelope.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { takeIdempotencyKey } from '../../gateway/input/idempotency-key.ts';
import { admitAhead, invoke, perform } from '../../gateway/invoke.ts';
import type { Answer } from '../../kit/capability.ts';
import type { BodyTask, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { ArrivedRequest, type CallSlot, identify } from '../rest/call-slot.ts';
import { ignoresUnknown } from '../rest/read-request.ts';
import type { RawBody } from './raw-body.ts';

/** Their calls are written as those of REST are. */
const OWN_FORMS: ReadonlySet<EntryForm> = new Set(['mcp', 'console']);
const WILDCARD = /\{([a-z_]+)\*\}$/;

export class RawArrived extends ArrivedRequest implements RawHead {
  protected readonly slot: CallSlot;
  readonly #rest: string | undefined;
  readonly #envelope: () => Envelope | undefined;

  /** `path`: of the route. */
  constructor(request: FastifyRequest, slot: CallSlot, path: string, envelope: () => Envelope | undefined) {
    super(request);
    this.slot = slot;
    this.#envelope = envelope;
    this.#rest = WILDCARD.exec(path)?.[1];
  }

  override get params() {
    if (this.#rest === undefined) return super.params;
    const { '*': rest = '', ...others } = super.params;
    return { ...others, [this.#rest]: rest };
  }

  get method() {
    return this.request.method;
  }

  override get headers() {
    return this.request.raw.headers;
  }

  get url() {
    return this.request.originalUrl;
  }

  get routed() {
    return this.request.raw.url ?? '';
  }

  failureMetadata(): object | null {
    const identity = this.slot.raw?.visit ?? this.slot.raw?.identity ?? identify(this.request);
    const text = this.#envelope()?.failureMetadata(identity);
    return text === undefined ? null : JSON.parse(text);
  }

  get requestId() {
    return (this.slot.raw?.visit ?? this.slot.raw?.identity ?? identify(this.request)).requestId;
  }
}

/** How a request is let in: as a call of its route's capability, or only known by who sent it. */
export interface RawDoor {
  enter(credential: Credential | null): Promise<Principal>;
}

export interface RawParts {
  readonly path: string;
  readonly asked: RawRoute['asked'];
  readonly body: RawBody;
  readonly gateway: Gateway;
  readonly visit: ActiveRequest;
  readonly door: RawDoor;
}

export class RawRead extends RawArrived implements RawRequest {
  readonly #parts: RawParts;
  /** The capability of `admitCall`, until it is called. */
  #admitted: string | null = null;

  constructor(request: FastifyRequest, slot: CallSlot, parts: RawParts) {
    super(request, slot, parts.path, () => parts.gateway.envelope);
    this.#parts = parts;
  }

  get body() {
    return this.#parts.body.bytes;
  }

  get stream() {
    return this.#parts.body.stream;
  }

  get signal() {
    return this.#parts.visit.signal;
  }

  get ctx() {
    const { call } = this.slot;
    return call?.isIdentified === true ? call : null;
  }

  get principal() {
    return this.slot.raw?.principal ?? null;
  }

  carry(headers: Readonly<Record<string, string>>): void {
    if (this.slot.raw !== undefined) this.slot.raw.headers = headers;
  }

  get sharer() {
    return this.principal?.accountId ?? NOBODY;
  }

  async admit(credential: Credential | null) {
    const { call } = this.slot;
    if (call === undefined) throw new Error('the route has no capability to be admitted to: it identifies');
    await this.#enter(credential);
    await enterRules(this.#parts.gateway, call, this.askedOf(call));
    return call;
  }

  identify(credential: Credential | null) {
    if (this.slot.call !== undefined) throw new Error('the route has a capability: it admits');
    return this.#enter(credential);
  }

  async #enter(credential: Credential | null): Promise<Principal> {
    const principal = await this.#parts.door.enter(credential);
    await this.#parts.body.prove();
    return principal;
  }

  inflate<Result>(use: (blocks: AsyncIterable<Buffer>) => Promise<Result>): Promise<Result> {
    const { gateway, body } = this.#parts;
    return gateway.inflating.run(this.sharer, null, () => body.inflate(use));
  }

  async invoke(
    capability: string,
    input: Parameters<RawRequest['invoke']>[1],
    { idempotencyKey = null, ...options }: { idempotencyKey?: string | null; fingerprint?: string } = {},
  ) {
    const call = { ...this.#callOf(capability), ...options, input, idempotencyKey };
    return invoke(this.#parts.gateway, { ...call, ignoresUnknown: this.#ignoresUnknown });
  }

  /** Other protocols have rules of their own of what they do not know. */
  get #ignoresUnknown(): boolean {
    return !OWN_FORMS.has(this.#parts.visit.entryForm) || ignoresUnknown(this);
  }

  async perform(capability: string, work: Parameters<RawRequest['perform']>[1]) {
    const call = {
      ...this.#callOf(capability),
      bodyBytes: this.body.length,
      askOf: (made: Call) => this.askedOf(made),
    };
    return perform(this.#parts.gateway, call, work);
  }

  /** What the request asks for, as a call. */
  askedOf(call: Call): Asked {
    const asked = this.#parts.asked?.(this);
    if (asked !== undefined) return askedWith(call, asked.input, asked.content);
    const { method, routed: url, headers } = this;
    const announced = ['content-length', 'x-amz-decoded-content-length', 'x-amz-content-sha256', 'content-md5'];
    return askedBy(call, {
      method,
      url,
      contentType: headers['content-type'] ?? '',
      idempotencyKey: String(headers['idempotency-key'] ?? ''),
      body: this.#parts.body.isStream ? null : this.body,
      announced: announced.map((name) => headers[name] as string | undefined),
    });
  }

  #callOf(capability: string) {
    const { visit } = this.#parts;
    const { entryForm, traceId, signal, place, sender } = visit;
    const isAdmitted = this.#admitted === capability;
    if (isAdmitted) this.#admitted = null;
    const of = { endpoint: this.#endpoint(capability), principal: this.#caller() };
    return { ...of, entryForm, traceId, signal, sender, isAdmitted, ...(place === null ? {} : { place }) };
  }

  #endpoint(capability: string): Endpoint {
    const endpoint = this.#parts.gateway.endpoints.get(capability);
    if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
    return endpoint;
  }

  #caller(): Principal {
    const { principal } = this;
    if (principal === null) throw problem('UNAUTHORIZED');
    return principal;
  }

  async admitCall(...capabilities: readonly string[]): Promise<void> {
    const principal = this.#caller();
    const endpoints = capabilities.map((each) => this.#endpoint(each));
    const allowed = endpoints.find(({ capability: { id, scope } }) => scopesAllow(principal.scopes, id, scope));
    const endpoint = allowed ?? endpoints[0];
    if (endpoint === undefined) throw new Error('there is no capability to be admitted to');
    await admitAhead(this.#parts.gateway, { endpoint, principal });
    this.#admitted = endpoint.capability.id;
  }

  async rate(bodyBytes = 0): Promise<void> {
    const { accountId, tier } = this.#caller();
    const grant = await this.#parts.gateway.limiter?.take(accountId, tier, 'reads');
    if (grant?.allowed === false) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
    this.#spend(Math.floor(bodyBytes / tokenWorth.bodyBytes));
  }

  weighAnswer(bytes: number): void {
    this.#spend(Math.floor(bytes / tokenWorth.answerBytes));
  }

  #spend(tokens: number): void {
    const { accountId, tier } = this.#caller();
    if (tokens > 0) this.#parts.gateway.limiter?.spend(accountId, tier, 'reads', tokens);
  }

  metadata(answer: Answer): object {
    const call = this.#call();
    call.answer = answer;
    return JSON.parse(this.#parts.gateway.envelope.metadata(call, answer));
  }

  takeKey(inBody: unknown, fingerprint: () => string): void {
    const call = this.#call();
    if (inBody !== undefined) call.input[KEY_FIELD] = inBody;
    const sent = this.headers['idempotency-key'];
    takeIdempotencyKey(call, sent === undefined ? [] : [sent], fingerprint);
  }

  #call(): Call {
    const { call } = this.slot;
    if (call?.isIdentified !== true) throw new Error('the request is no call of a capability yet');
    return call;
  }

  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result> {
    return this.#parts.gateway.bodies.run(this.sharer, task, body as Buffer<ArrayBuffer>);
  }
}
