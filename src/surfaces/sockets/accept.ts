// The WebSocket handshake (RFC 6455, section 4.2). A wrong handshake is refused before any credential is looked up. A correct one becomes a
// socket once its request is admitted like any call.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../../gateway/endpoint.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { RawHead, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import type { SocketHead, SocketRoute } from '../../kit/socket-route.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import { answerOf, type Upgrade } from '../http/answer.ts';
import { isOwnHost } from '../pages/own-host.ts';
import type { CallSlot } from '../rest/call-slot.ts';
import { countRaw } from '../rest/finish.ts';
import { OpenSocket } from './open-socket.ts';
import type { OpenSockets } from './open-sockets.ts';

const VERSION = '13';
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The socket route as the raw route that its requests are until they are accepted. */
export function rawRouteOf(route: SocketRoute): RawRoute {
  const { name, path, capability, entryForm, credentialOf, refuse } = route;
  return {
    name,
    path,
    capability,
    methods: ['GET'],
    bodyBytesMax: 1,
    ...(entryForm === undefined ? {} : { entryForm }),
    ...(credentialOf === undefined ? {} : { credentialOf }),
    ...(refuse === undefined ? {} : { refuse }),
    answer: () => Promise.reject(problem('UPGRADE_REQUIRED')),
  };
}

/** What a request is told that asks for a WebSocket where none is. */
export function noSocketHere(): Problem {
  return problem('INVALID_REQUEST', { message: 'This path takes no WebSockets.', detail: 'no_websocket' });
}

/** Throws UPGRADE_REQUIRED for a request that asks for no socket, INVALID_REQUEST for a handshake that is none, or of another site's page. */
export function requireHandshake(route: SocketRoute, head: RawHead, reply: FastifyReply, { baseUrl }: Services): void {
  const { headers } = head;
  if (answerOf(reply).upgrade === null) {
    void reply.headers({ connection: 'upgrade', upgrade: 'websocket' });
    throw problem('UPGRADE_REQUIRED');
  }
  if (headers['sec-websocket-version'] !== VERSION) {
    void reply.headers({ connection: 'close, upgrade', upgrade: 'websocket', 'sec-websocket-version': VERSION });
    throw problem('UPGRADE_REQUIRED', { message: `Sec-WebSocket-Version must be ${VERSION}.` });
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) throw wrong('Sec-WebSocket-Key is not 16 bytes of base64.');
  const protocols = protocolsOf(headers['sec-websocket-protocol']);
  if (protocols.some((protocol, i) => !TOKEN.test(protocol) || protocols.indexOf(protocol) !== i))
    throw wrong('Sec-WebSocket-Protocol is not a list of different tokens.');
  if (route.anyOrigin !== true && !isOwnOrigin(head, baseUrl)) {
    const message = 'Pages of other sites may not open this WebSocket.';
    throw problem('INVALID_REQUEST', { message, detail: 'origin' });
  }
}

function wrong(message: string): Problem {
  return problem('INVALID_REQUEST', { message, detail: 'websocket_handshake' });
}

function protocolsOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(',').map((protocol) => protocol.trim());
}

/** What is no browser sends no Origin. */
function isOwnOrigin(head: RawHead, baseUrl: string): boolean {
  const { origin, host } = head.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin) || !isOwnHost(head, baseUrl)) return false;
  const page = new URL(origin);
  return page.origin === new URL(baseUrl).origin || page.host === host?.toLowerCase();
}

export interface Handshake {
  readonly sockets: OpenSockets;
  readonly gateway: Gateway;
  readonly route: SocketRoute;
  readonly endpoint: Endpoint | null;
  readonly state: unknown;
  readonly head: RawHead;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly slot: CallSlot;
}

/** Answers 101 to a request that was admitted. Throws RATE_LIMITED, CONCURRENCY_LIMITED, OVERLOADED, SERVICE_UNAVAILABLE. */
export async function acceptSocket(handshake: Handshake): Promise<FastifyReply> {
  const { sockets, gateway, route, endpoint, head, reply, slot } = handshake;
  const { upgrade } = answerOf(reply);
  const { visit, principal = null } = slot.raw ?? {};
  if (upgrade === null || visit === undefined) throw new Error('only a request that asks for a socket is accepted');
  if (endpoint === null && principal !== null) {
    const grant = await gateway.limiter?.take(principal.accountId, principal.tier, 'reads');
    if (grant?.allowed === false) throw problem('RATE_LIMITED', { retryAfterMs: grant.retryAfterMs });
  }
  const { remoteAddress } = head;
  const place = await sockets.places.take(gateway.core.underWay, principal?.accountId ?? null, remoteAddress);
  if (sockets.isStopped) {
    place.release();
    throw problem('SERVICE_UNAVAILABLE', { message: 'The service stops.', retryAfterMs: 1_000 });
  }
  const { WebSocketServer } = await import('ws');
  void reply.hijack();
  countRaw(gateway.traffic, slot, 101);
  visit.release();
  const { tcp, ws } = shakeHands(WebSocketServer, handshake, upgrade, visit.requestId);
  if (ws === null) {
    place.release();
    return reply;
  }
  const { entryForm, traceId, requestId } = visit;
  const accepted = { sockets, gateway, route, endpoint, entryForm, requestId, traceId, remoteAddress, place };
  const socket = new OpenSocket(ws, tcp, principal, accepted);
  sockets.add(socket, route.name, gateway.core);
  gateway.core.log.debug({ request_id: requestId, route: route.name, address: remoteAddress }, 'a socket has opened');
  void socket.begin(headOf(head), handshake.state);
  return reply;
}

type Server = typeof import('ws').WebSocketServer;

/** `ws`: null where the client has left. */
function shakeHands(Server: Server, { sockets, route, request }: Handshake, upgrade: Upgrade, requestId: string) {
  const { messageBytesMax, fragmentsMax, piecesMax } = sockets.bounds;
  const bounds = {
    maxPayload: route.messageBytesMax ?? messageBytesMax,
    maxFragments: fragmentsMax,
    maxBufferedChunks: piecesMax,
  };
  const spoken = route.protocols ?? [];
  const server = new Server({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    ...bounds,
    handleProtocols: (offered) => spoken.find((protocol) => offered.has(protocol)) ?? false,
  });
  server.on('headers', (headers) => headers.push(`X-Request-Id: ${requestId}`));
  const tcp = upgrade.take();
  let ws: import('ws').WebSocket | null = null;
  server.handleUpgrade(request.raw, tcp, upgrade.head, (opened) => {
    ws = opened;
  });
  return { tcp, ws: ws as import('ws').WebSocket | null };
}

/** Without the request, which an open socket needs no more. */
function headOf({ params, query, headers, remoteAddress, url, requestId }: RawHead): SocketHead {
  return { params, query, headers, remoteAddress, url, requestId };
}
