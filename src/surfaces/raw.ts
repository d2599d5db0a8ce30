// Routes that speak another protocol than the JSON envelope (manifest/raw-route.ts): mounted with the places, keys, rates, metrics and
// request ids of every call.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NOBODY } from '../core/account-turns.ts';
import { tokenWorth } from '../core/tiers.ts';
import type { BodyReaders } from '../gateway/bulk/readers.ts';
import { Call } from '../gateway/call.ts';
import type { Endpoint } from '../gateway/endpoint.ts';
import { beforeBody, runSteps } from '../gateway/pipeline.ts';
import type { Gateway } from '../gateway/step.ts';
import { confirmKey } from '../gateway/steps/confirm-key.ts';
import { traceparentOf } from '../gateway/trace-context.ts';
import type { Place, Traffic } from '../gateway/traffic.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { BodyTask, RawAnswer, RawHead, RawRequest, RawRoute } from '../manifest/raw-route.ts';
import { problem } from '../problems/problem.ts';
import { ArrivedRequest, type CallSlot, identify, slotOf, toRequest, urlOf } from './call-slot.ts';
import { onClosed } from './closed.ts';

export interface MountedRawRoute {
  readonly route: RawRoute;
  /** Of the route's capability. */
  readonly endpoint: Endpoint;
}

/** The raw routes of all modules, each with the endpoint of its capability. */
export function mountedRawRoutes({ modules }: Manifest, endpoints: readonly Endpoint[]): MountedRawRoute[] {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.capability.id, endpoint]));
  return modules.flatMap(({ rawRoutes = [] }) =>
    rawRoutes.map((route) => ({ route, endpoint: byId.get(route.capability) as Endpoint })),
  );
}

export interface RawOptions {
  readonly gateway: () => Gateway | null;
  readonly traffic: Traffic;
}

/** What every 401 carries (RFC 6750, section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="quartermaster"';

const NO_BODY = Buffer.alloc(0);

export function addRawRoute(app: FastifyInstance, options: RawOptions, mounted: MountedRawRoute): void {
  const { route } = mounted;
  app.route({
    method: [...route.methods],
    url: urlOf(route.path),
    bodyLimit: route.bodyBytesMax,
    onRequest: (request, reply) => arrive(options, mounted, request, reply),
    handler: (request, reply) => handle(options, mounted, request, reply),
  });
}

async function arrive(
  { gateway: current, traffic }: RawOptions,
  { route, endpoint }: MountedRawRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const slot = slotOf(request);
  const head = new RawArrived(request, slot);
  slot.raw = {
    name: route.name,
    identity: identify(request),
    refuse: (failure) => route.refuse?.(failure, head) ?? null,
  };
  const gateway = current();
  if (gateway === null) throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
  const place = traffic.begin(request.headers, route.bodyBytesMax, false);
  const call = new Call(gateway.core, endpoint, toRequest(request, reply));
  slot.call = call;
  slot.place = place;
  call.occupy(() => traffic.end(place));
  onClosed(request.raw, reply.raw, () => {
    slot.closed = true;
    if (slot.handling !== true) call.release();
  });
  const secret = route.secretOf?.(head) ?? null;
  if (secret === null) traffic.claim(place, NOBODY);
  else await enter(call, secret, gateway, traffic, place);
}

async function enter(call: Call, secret: string | null, gateway: Gateway, traffic: Traffic, place: Place) {
  call.secret = secret;
  await runSteps(beforeBody, call, gateway);
  traffic.claim(place, call.accountId);
}

async function handle(
  { gateway: current, traffic }: RawOptions,
  { route, endpoint }: MountedRawRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gateway = current();
  const slot = slotOf(request);
  const { call, place } = slot;
  if (gateway === null || call === undefined || place === undefined)
    throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
  slot.handling = true;
  try {
    const body = (request.body as Buffer | undefined) ?? NO_BODY;
    traffic.arrived(place, body.length);
    if (call.authenticated) await confirmKey(call, gateway);
    const admit: RawRequest['admit'] = async (secret) => {
      if (!call.authenticated || call.secret !== secret) await enter(call, secret, gateway, traffic, place);
      return call;
    };
    const raw = new RawRead(request, slot, body, admit, gateway.bodies);
    const answer = await route.answer(raw, endpoint.state());
    call.weigh(Math.floor(answer.body.length / tokenWorth.answerBytes));
    call.billed = answer.costNanos !== undefined && answer.costNanos > 0n;
    return await reply.send(finishRaw(traffic, slot, reply, answer));
  } finally {
    slot.handling = false;
    if (slot.closed === true) call.release();
  }
}

/** Counts the request and sets status and headers; answers the body. */
export function finishRaw(traffic: Traffic, slot: CallSlot, reply: FastifyReply, answer: RawAnswer): string | Buffer {
  const { call, raw } = slot;
  const identity = call ?? raw?.identity;
  if (raw === undefined || identity === undefined) throw new Error('the request is not one of a raw route');
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body))
    throw new TypeError(`the answer of ${raw.name} is neither text nor bytes`);
  if (call?.finished !== true) {
    if (call !== undefined) call.finished = true;
    traffic.record(raw.name, answer.status, performance.now() - identity.startedMs);
    if (call?.authenticated === true && !call.billed)
      call.core.usage.count(call.accountId, call.key.keyId, call.capability, answer.status >= 400);
  }
  void reply.code(answer.status).headers({
    'x-request-id': identity.requestId,
    traceparent: traceparentOf(identity.traceId),
    ...(answer.status === 401 ? { 'www-authenticate': BEARER_CHALLENGE } : {}),
    ...call?.headers,
    ...answer.headers,
  });
  return answer.body;
}

class RawArrived extends ArrivedRequest implements RawHead {
  protected readonly slot: CallSlot;

  constructor(request: FastifyRequest, slot: CallSlot) {
    super(request);
    this.slot = slot;
  }

  get method() {
    return this.request.method;
  }

  get requestId() {
    return (this.slot.call ?? this.slot.raw?.identity ?? identify(this.request)).requestId;
  }
}

class RawRead extends RawArrived implements RawRequest {
  readonly body: Buffer;
  readonly admit: RawRequest['admit'];
  readonly #readers: BodyReaders;

  constructor(request: FastifyRequest, slot: CallSlot, body: Buffer, admit: RawRequest['admit'], readers: BodyReaders) {
    super(request, slot);
    this.body = body;
    this.admit = admit;
    this.#readers = readers;
  }

  get sharer() {
    const { call } = this.slot;
    return call?.authenticated === true ? call.accountId : NOBODY;
  }

  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result> {
    return this.#readers.run(this.sharer, task, body as Buffer<ArrayBuffer>);
  }
}
