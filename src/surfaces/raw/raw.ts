// Routes that speak another protocol than the JSON envelope (manifest/raw-route.ts): mounted with the places, keys, rates, metrics and
// request ids of every call.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NOBODY } from '../../core/account-turns.ts';
import { tokenWorth } from '../../core/accounts/tiers.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import type { BodyReaders } from '../../gateway/bulk/readers.ts';
import { Call } from '../../gateway/call.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { confirm, identify as identifyCaller } from '../../gateway/identify.ts';
import { admit } from '../../gateway/invoke.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import type { BodyTask, RawHead, RawRequest, RawRoute } from '../../manifest/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { answerOf } from '../http/answer.ts';
import { ArrivedRequest, CallRequest, type CallSlot, identify, slotOf, urlOf } from '../rest/call-slot.ts';
import type { FailureOptions } from '../rest/failures.ts';
import { finishRaw } from '../rest/finish.ts';
import { claim, occupy } from '../rest/occupy.ts';
import { receiving } from '../rest/receive.ts';

export interface MountedRawRoute {
  readonly route: RawRoute;
  /** Of the route's capability. */
  readonly endpoint: Endpoint;
}

/** The raw routes of all modules, each with the endpoint of its capability. */
export function mountedRawRoutes({ modules }: Manifest, endpoints: Gateway['endpoints']): MountedRawRoute[] {
  return modules.flatMap(({ rawRoutes = [] }) =>
    rawRoutes.map((route) => ({ route, endpoint: endpoints.get(route.capability) as Endpoint })),
  );
}

export interface RawOptions extends FailureOptions {
  readonly gateway: () => Gateway | null;
}

const NO_BODY = Buffer.alloc(0);

export function addRawRoute(app: FastifyInstance, options: RawOptions, mounted: MountedRawRoute): void {
  const { route } = mounted;
  app.route({
    method: [...route.methods],
    url: urlOf(route.path),
    bodyLimit: route.bodyBytesMax,
    onRequest: (request, reply) => arrive(options, mounted, request, reply),
    preParsing: (request, reply, payload, done) =>
      done(null, receiving(options, request, reply, payload as Readable, false)),
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
  const arrived = new CallRequest(request, reply);
  const call = new Call(gateway, endpoint, arrived);
  slot.arrived = arrived;
  const place = occupy(traffic, call, slot, reply, NOBODY);
  const credential = route.credentialOf?.(head) ?? null;
  if (credential !== null) await enter(gateway, call, arrived, credential, () => claim(traffic, place, call, reply));
}

async function enter(
  gateway: Gateway,
  call: Call,
  { remoteAddress }: CallRequest,
  credential: Credential | null,
  claimed: () => void,
): Promise<void> {
  call.identified(await identifyCaller(gateway, credential, remoteAddress));
  admit(gateway, call);
  claimed();
}

async function handle(
  { gateway: current, traffic }: RawOptions,
  { route, endpoint }: MountedRawRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const gateway = current();
  const slot = slotOf(request);
  const { arrived, call, place } = slot;
  if (gateway === null || arrived === undefined || call === undefined || place === undefined)
    throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: 1000 });
  if (slot.refused === true) return undefined;
  if (!(await traffic.run(place, answerOf(reply).waitedMs))) return undefined;
  slot.handling = true;
  try {
    const body = (request.body as Buffer | undefined) ?? NO_BODY;
    if (call.isIdentified) await confirm(call);
    const admitted: RawRequest['admit'] = async (credential) => {
      await enter(gateway, call, arrived, credential, () => claim(traffic, place, call, reply));
      // What it has of the body by now may be much, and few may have that at a time.
      traffic.runNow(place);
      return call;
    };
    const raw = new RawRead(request, slot, body, admitted, gateway.bodies);
    const answer = await route.answer(raw, endpoint.state());
    call.weigh(Math.floor(answer.body.length / tokenWorth.answerBytes));
    call.billed = answer.costNanos !== undefined && answer.costNanos > 0n;
    return await reply.send(finishRaw(traffic, slot, reply, answer));
  } finally {
    slot.handling = false;
    if (slot.closed === true) call.release();
  }
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

  get ctx() {
    const { call } = this.slot;
    return call?.isIdentified === true ? call : null;
  }

  get sharer() {
    return this.ctx?.accountId ?? NOBODY;
  }

  read<Result>(task: BodyTask<Result>, body: Buffer): Result | Promise<Result> {
    return this.#readers.run(this.sharer, task, body as Buffer<ArrayBuffer>);
  }
}
