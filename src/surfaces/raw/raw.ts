// Routes that speak another protocol than the JSON envelope (kit/raw-route.ts). They share the slots, keys, rate limits, metrics and request
// ids of all calls.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NOBODY } from '../../core/account-places.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { ActiveRequest } from '../../gateway/active-request.ts';
import { enterRules } from '../../gateway/approvals.ts';
import { Call } from '../../gateway/call.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { confirm, identify as identifyCaller } from '../../gateway/identify.ts';
import { admit } from '../../gateway/invoke.ts';
import { shortBody } from '../../gateway/log-call.ts';
import type { RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import type { SocketRoute } from '../../kit/socket-route.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { problem } from '../../problems/problem.ts';
import { answerOf } from '../http/answer.ts';
import { refuseToRun } from '../http/origin.ts';
import { routeOfPublicPage } from '../pages/module-page.ts';
import { routeOfPages } from '../pages/page-route.ts';
import { serviceRoutes } from '../pages/service-routes.ts';
import { CallRequest, type CallSlot, identify, slotOf, urlOf } from '../rest/call-slot.ts';
import type { FailureOptions } from '../rest/failures.ts';
import { claim, occupy } from '../rest/occupy.ts';
import { receiving } from '../rest/receive.ts';
import { acceptSocket, rawRouteOf, requireHandshake } from '../sockets/accept.ts';
import type { OpenSockets } from '../sockets/open-sockets.ts';
import { admitLong, beginSigning, endSigning, unprovenOwner } from './body-signature.ts';
import { sendRaw } from './raw-answer.ts';
import { admitBody, RawBody } from './raw-body.ts';
import { RawArrived, type RawDoor, RawRead } from './raw-request.ts';
import type { OpenStreams } from './streams.ts';

export interface MountedRawRoute {
  readonly route: RawRoute;
  /** Of the route's capability; null: it has none. */
  readonly endpoint: Endpoint | null;
  /** Of its module; there once the service is ready. */
  readonly state: () => unknown;
  /** Where its requests become sockets. */
  readonly socket?: SocketRoute;
}

/** The raw routes of all modules, each with the endpoint of its capability, and those of the service itself. */
export function mountedRawRoutes(
  manifest: Manifest,
  endpoints: Gateway['endpoints'],
  services: () => Services,
): MountedRawRoute[] {
  const own = serviceRoutes.flatMap((routes) => routes(services, manifest));
  const ofModules = manifest.modules.flatMap(
    ({ capabilities: [first], rawRoutes = [], publicPages = [], socketRoutes = [] }) =>
      [
        ...rawRoutes.map((route) => ({ route })),
        ...rawRoutes.filter(({ isForPages }) => isForPages).map((route) => ({ route: routeOfPages(services, route) })),
        ...publicPages.map((page) => ({ route: routeOfPublicPage(services, page) })),
        ...socketRoutes.map((socket) => ({ route: rawRouteOf(socket), socket })),
      ].map((mounted) => ({
        ...mounted,
        endpoint: mounted.route.capability === null ? null : (endpoints.get(mounted.route.capability) as Endpoint),
        state: () => endpoints.get(first?.id ?? '')?.state(),
      })),
  );
  return [...own.map((route) => ({ route, endpoint: null, state: () => null })), ...ofModules];
}

export interface RawOptions extends FailureOptions {
  readonly gateway: () => Gateway | null;
  readonly streams: OpenStreams;
  readonly sockets: OpenSockets;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;|$)/;
const SOME_TYPE = 'application/octet-stream';
const FORM_TYPE = /^multipart\/form-data\s*(?:;|$)/i;
const FORMS_ALONE = { sends: 'form' } as const;
const UNAVAILABLE = { retryAfterMs: 1000, message: 'The service is starting or stopping.' };

/** Of two routes of one path and method, one may be for forms alone. */
export const bodyConstraint = {
  name: 'sends',
  storage() {
    const handlers = new Map<unknown, never>();
    return {
      get: (sent: unknown) => handlers.get(sent) ?? null,
      set: (sent: unknown, handler: never) => void handlers.set(sent, handler),
    };
  },
  deriveConstraint: ({ headers }: IncomingMessage) =>
    FORM_TYPE.test(headers['content-type'] ?? '') ? FORMS_ALONE.sends : undefined,
  validate: () => undefined,
};

export function addRawRoute(app: FastifyInstance, options: RawOptions, mounted: MountedRawRoute): void {
  const { route } = mounted;
  const takesStream = route.stream === 'both';
  const mount = (scope: FastifyInstance) =>
    scope.route({
      method: [...route.methods],
      url: urlOf(route.path),
      bodyLimit: route.bodyBytesMax,
      exposeHeadRoute: false,
      ...(route.takesForms === true ? { constraints: FORMS_ALONE } : {}),
      config: { takesSockets: mounted.socket !== undefined },
      onRequest: (request, reply) => arrive(options, mounted, request, reply),
      preParsing: (request, reply, payload, done) => {
        const { raw } = slotOf(request);
        if (raw?.signing !== undefined) (payload as Readable).on('data', raw.signing.credential.update);
        done(null, takesStream ? payload : receiving(options, request, reply, payload as Readable, false));
      },
      handler: (request, reply) => handle(options, mounted, request, reply),
    });
  if (!takesStream) mount(app);
  else {
    void app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        '*',
        (_request: FastifyRequest, payload: unknown, done: (e: null, body: unknown) => void) => done(null, payload),
      );
      mount(scope);
    });
  }
}

async function arrive(
  { gateway: current, traffic }: RawOptions,
  { route, endpoint, socket, state }: MountedRawRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const slot = slotOf(request);
  // Fastify would refuse a body whose type is none, before its module sees it.
  if (!MEDIA_TYPE.test(request.headers['content-type'] ?? SOME_TYPE)) request.headers = { 'content-type': SOME_TYPE };
  const head = new RawArrived(request, slot, route.path, () => current()?.envelope);
  const raw = { name: route.name, identity: identify(request), refuse: refusing(route, head) };
  slot.raw = raw;
  const gateway = current();
  if (gateway === null) throw problem('SERVICE_UNAVAILABLE', UNAVAILABLE);
  if (route.isOfPages !== true) refuseToRun(request.headers);
  if (socket !== undefined) requireHandshake(socket, head, reply, gateway.core);
  const arrived = new CallRequest(request, reply, route.entryForm);
  slot.arrived = arrived;
  if (endpoint !== null) slot.call = new Call(gateway, endpoint, arrived);
  const visit = slot.call ?? new ActiveRequest(arrived);
  slot.raw = { ...raw, visit, identity: visit };
  occupy(traffic, visit, slot, reply, NOBODY);
  if (route.headersFor !== undefined) slot.raw.headers = await route.headersFor(head, state());
  const credential = route.credentialOf?.(head, state()) ?? null;
  if (credential !== null) {
    const principal = await doorOf(gateway, request, reply).enter(credential);
    if (route.rate !== undefined) await takeRate(gateway, route.rate, principal);
    admitLong(gateway, route, head, principal);
  } else if (route.bodyCredentialOf !== undefined) {
    const { signing, named } = await beginSigning(gateway, route, head);
    slot.raw.signing = signing;
    if (named !== null && slot.place !== undefined) traffic.claim(slot.place, unprovenOwner(named));
  } else if (socket !== undefined && socket.identifiesLater !== true) await identifyCaller(gateway, null, request.ip);
  admitBody(route, request.headers, slot.raw.proof ?? null);
  if (route.stream === 'both') answerOf(reply).takesLong = true;
}

/** The call is there once `answer` has admitted it. */
async function underApproval<Result>(call: Call, answer: () => Promise<Result>): Promise<Result> {
  try {
    const result = await answer();
    await call.approval?.settle();
    return result;
  } catch (error) {
    await call.approval?.giveBack(error);
    throw error;
  }
}

function refusing(route: RawRoute, head: RawArrived) {
  return (failure: Parameters<NonNullable<RawRoute['refuse']>>[0]) => route.refuse?.(failure, head) ?? null;
}

function doorOf(gateway: Gateway, request: FastifyRequest, reply: FastifyReply): RawDoor {
  const slot = slotOf(request);
  return {
    async enter(credential) {
      const principal = await identifyCaller(gateway, credential, request.ip);
      if (slot.raw !== undefined) slot.raw.proof = credential?.bodyProof?.() ?? null;
      await enterAs(gateway, principal, slot, reply);
      return principal;
    },
  };
}

/** Throws RATE_LIMITED. */
async function takeRate({ limiter }: Gateway, rate: 'received', { accountId, tier }: Principal): Promise<void> {
  const grant = await limiter?.take(accountId, tier, rate);
  if (grant?.allowed === false) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
}

async function enterAs(gateway: Gateway, principal: Principal, slot: CallSlot, reply: FastifyReply): Promise<void> {
  if (principal.suspended) throw problem('ACCOUNT_SUSPENDED');
  if (slot.raw !== undefined) slot.raw.principal = principal;
  slot.call?.setPrincipal(principal);
  if (slot.call !== undefined) await admit(gateway, slot.call);
  if (slot.place !== undefined) claim(gateway.traffic, slot.place, principal.accountId, reply);
}

async function handle(
  options: RawOptions,
  mounted: MountedRawRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { traffic, streams, sockets } = options;
  const { route, state, endpoint, socket } = mounted;
  const gateway = options.gateway();
  const slot = slotOf(request);
  const { call, place, raw } = slot;
  const visit = raw?.visit;
  if (gateway === null || raw === undefined || visit === undefined || place === undefined)
    throw problem('SERVICE_UNAVAILABLE', UNAVAILABLE);
  if (slot.refused === true) return undefined;
  const { signing } = raw;
  if (signing !== undefined) await enterAs(gateway, await endSigning(gateway, signing, request), slot, reply);
  if (route.stream !== undefined) traffic.stream(place);
  else if (!(await traffic.run(place, answerOf(reply).waitedMs))) return undefined;
  slot.handling = true;
  try {
    if (call?.isIdentified === true) await confirm(call);
    if (socket !== undefined) {
      const head = new RawArrived(request, slot, route.path, () => gateway.envelope);
      return await acceptSocket({
        sockets,
        gateway,
        route: socket,
        endpoint,
        state: state(),
        head,
        request,
        reply,
        slot,
      });
    }
    const door = doorOf(gateway, request, reply);
    const entered: RawDoor = {
      async enter(credential) {
        const principal = await door.enter(credential);
        // What it has of the body by now may be much, and few may have that at a time.
        if (route.stream === undefined) traffic.runNow(place);
        return principal;
      },
    };
    const { headers } = request;
    const body = new RawBody(request.body, { route, headers, traffic, place, streams, proof: () => raw.proof ?? null });
    await body.prove();
    if (call !== undefined) call.body = shortBody(body.bytes);
    const read = new RawRead(request, slot, {
      path: route.path,
      asked: route.asked,
      body,
      gateway,
      visit,
      door: entered,
    });
    const answer = async () => sendRaw({ options, streams, route, slot, reply }, await route.answer(read, state()));
    if (call === undefined) return await answer();
    if (call.isIdentified) await enterRules(gateway, call, read.askedOf(call));
    return await call.trace(() => underApproval(call, answer));
  } finally {
    slot.handling = false;
    if (slot.closed === true) visit.release();
  }
}
