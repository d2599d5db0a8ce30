// A request of a raw route, as its module sees it: before its body is read, and with it.
import type { FastifyRequest } from 'fastify';
import { NOBODY } from '../../core/account-turns.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import type { Principal } from '../../core/principal.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { invoke } from '../../gateway/invoke.ts';
import type { Visit } from '../../gateway/visit.ts';
import type { BodyTask, RawHead, RawRequest } from '../../manifest/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { ArrivedRequest, type CallSlot, identify } from '../rest/call-slot.ts';
import type { RawBody } from './raw-body.ts';

const WILDCARD = /\{([a-z_]+)\*\}$/;

export class RawArrived extends ArrivedRequest implements RawHead {
  protected readonly slot: CallSlot;
  readonly #rest: string | undefined;

  /** `path`: of the route. */
  constructor(request: FastifyRequest, slot: CallSlot, path: string) {
    super(request);
    this.slot = slot;
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

  get url() {
    return this.request.raw.url ?? '';
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
  readonly body: RawBody;
  readonly gateway: Gateway;
  readonly visit: Visit;
  readonly door: RawDoor;
}

export class RawRead extends RawArrived implements RawRequest {
  readonly #parts: RawParts;

  constructor(request: FastifyRequest, slot: CallSlot, parts: RawParts) {
    super(request, slot, parts.path);
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

  get sharer() {
    return this.principal?.accountId ?? NOBODY;
  }

  async admit(credential: Credential | null) {
    const { call } = this.slot;
    if (call === undefined) throw new Error('the route has no capability to be admitted to: it identifies');
    await this.#enter(credential);
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
    return gateway.inflating.run(this.sharer, () => body.inflate(use));
  }

  async invoke(
    capability: string,
    input: Parameters<RawRequest['invoke']>[1],
    { idempotencyKey = null as string | null } = {},
  ) {
    const { gateway, visit } = this.#parts;
    const endpoint = gateway.endpoints.get(capability);
    if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be invoked`);
    const { principal } = this;
    if (principal === null) throw problem('UNAUTHORIZED');
    const { entryForm, traceId, signal, place } = visit;
    const part = { entryForm, traceId, signal, ...(place === null ? {} : { place }) };
    return invoke(gateway, { endpoint, principal, input, idempotencyKey, ...part });
  }

  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result> {
    return this.#parts.gateway.bodies.run(this.sharer, task, body as Buffer<ArrayBuffer>);
  }
}
