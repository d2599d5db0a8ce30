// VAULT_PORT: an HTTP/1.1 proxy. It ends the TLS of a CONNECT to a host of a connection with a certificate of the deployment's CA, and hands each
// request in it to the module. One HTTP server of Node reads both what comes by a connection and what comes by the TLS within it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { Principal } from '../../../core/callers/principal.ts';
import type { Core } from '../../../core/core.ts';
import type { ListenAt, ProtocolDoor, ProtocolServer } from '../../../kit/protocol-server.ts';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { problem } from '../../../problems/problem.ts';
import { type Authority, readAuthority } from './authority.ts';
import { Leaves } from './leaf.ts';
import { placeOf, SocketPlaces } from './places.ts';
import type { ProxyHost } from './proxy-host.ts';
import { invalidRequest, isExpected, ProxyRefusal, refuseConnect, refuseRequest, tooManyAtOnce } from './refusal.ts';
import {
  absoluteTarget,
  announcedBytes,
  connectTarget,
  endToEndHeaders,
  proxyCredential,
  type RequestTarget,
  tunnelledTarget,
} from './requests.ts';
import type { ProxySettings } from './settings.ts';
import { Tunnels } from './tunnels.ts';

export interface ProxyServices<Connection> {
  readonly core: Pick<Core, 'secrets' | 'outbound' | 'bounds' | 'log'>;
  readonly settings: Pick<ProxySettings, 'others'>;
  readonly host: ProxyHost<Connection>;
  readonly door: ProtocolDoor;
}

export function openProxy<Connection>(services: ProxyServices<Connection>): ProtocolServer {
  return new ProxyPort(services);
}

/** What a CONNECT has led to. */
interface Inside<Connection> {
  readonly principal: Principal;
  readonly connection: Connection;
  readonly target: Authority;
}

/** What carries requests: a client's connection, or the TLS within it. */
interface Wire<Connection> {
  readonly client: Socket;
  readonly remoteAddress: string;
  /** Null: the connection itself. */
  readonly inside: Inside<Connection> | null;
  /** Settles when what came so far is answered. */
  answered: Promise<void>;
  /** Requests that are not answered. */
  unanswered: number;
}

class ProxyPort<Connection> implements ProtocolServer {
  readonly #services: ProxyServices<Connection>;
  readonly #server: Server;
  readonly #places: SocketPlaces;
  readonly #handshakes: FairPlaces;
  readonly #tunnels: Tunnels;
  readonly #leaves: Leaves;
  readonly #wires = new WeakMap<Socket, Wire<Connection>>();
  /** Clients with requests under way. */
  readonly #busy = new Set<Socket>();
  #isStopping = false;

  constructor(services: ProxyServices<Connection>) {
    const { secrets, outbound, bounds } = services.core;
    const { proxy } = bounds;
    this.#services = services;
    this.#places = new SocketPlaces(proxy);
    this.#handshakes = new FairPlaces(proxy.handshakesMax);
    this.#tunnels = new Tunnels(outbound, proxy);
    this.#leaves = new Leaves(secrets, proxy.leavesMax);
    this.#server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: proxy.headerBytesMax,
      headersTimeout: proxy.headersTimeoutMs,
      connectionsCheckingInterval: Math.ceil(proxy.headersTimeoutMs / 3),
      // A body may take its time: `silenceMs` bounds each part of it, and its account has a share of the sockets.
      requestTimeout: 0,
      keepAliveTimeout: proxy.keepAliveTimeoutMs,
      noDelay: true,
    });
    this.#server.timeout = proxy.silenceMs;
    this.#server.maxConnections = proxy.unidentifiedMax + proxy.socketsMax;
    this.#server.prependListener('connection', (socket: Socket) => this.#onConnection(socket));
    this.#server.on('request', (request, response) => this.#onRequest(request, response));
    this.#server.on('checkContinue', (request, response) => this.#onRequest(request, response));
    this.#server.on('connect', (request, socket, head) => void this.#onConnect(request, socket as Socket, head));
  }

  async listen({ host, port, backlog, reusePort }: ListenAt): Promise<void> {
    this.#server.listen({ host, port, backlog, reusePort });
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#tunnels.close();
    for (const client of this.#places.clients) if (!this.#busy.has(client)) client.destroy();
    const late = setTimeout(() => {
      for (const client of this.#places.clients) client.destroy();
    }, this.#services.core.bounds.proxy.closeWithinMs);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    clearTimeout(late);
  }

  #onConnection(socket: Socket): void {
    // The TLS within one.
    if (this.#wires.has(socket)) return;
    if (!this.#places.admit(socket)) return void socket.destroy();
    this.#wires.set(socket, wireOf(socket, null));
  }

  /** Requests that were sent ahead wait for the answer before: a target gets them one after the other. */
  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const wire = this.#wireOf(request.socket);
    if (wire.unanswered > this.#services.core.bounds.proxy.pipelinedMax) return void request.socket.destroy();
    wire.unanswered += 1;
    this.#busy.add(wire.client);
    wire.answered = wire.answered.then(async () => {
      if (!request.socket.destroyed) await this.#answer(wire, request, response);
      wire.unanswered -= 1;
      if (wire.unanswered === 0) this.#busy.delete(wire.client);
    });
  }

  async #answer(wire: Wire<Connection>, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    response.once('close', () => void (response.writableFinished || gone.abort()));
    // Whoever writes it is told by the signal.
    response.on('error', () => undefined);
    if (this.#isStopping) response.shouldKeepAlive = false;
    try {
      const { target, ...by } = wire.inside ?? (await this.#insideOf(request));
      const { host, port, url } =
        wire.inside === null ? (target as RequestTarget) : tunnelledTarget(request, wire.inside.target);
      await this.#services.host.relay({
        ...by,
        method: request.method ?? 'GET',
        secure: wire.inside !== null,
        host,
        port,
        url,
        headers: endToEndHeaders(request),
        body: request.headers.expect === undefined ? request : bodyAfterContinue(request, response),
        bodyBytes: announcedBytes(request),
        response,
        remoteAddress: wire.remoteAddress,
        signal: gone.signal,
      });
    } catch (error) {
      if (!isExpected(error) && !gone.signal.aborted)
        this.#services.core.log.error({ err: error }, 'a request could not be relayed');
      refuseRequest(response, error, wire.inside === null);
    }
    await closed;
    if (this.#isStopping) this.#server.closeIdleConnections();
  }

  /** Of a request of an absolute address. */
  async #insideOf(request: IncomingMessage): Promise<Inside<Connection>> {
    const target = absoluteTarget(request);
    const principal = await this.#identify(request);
    const connection = await this.#findConnection(principal, target);
    if (connection === null) throw ruleRefused(target);
    return { principal, connection: connection.connection, target };
  }

  async #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    // Node has taken its own listeners away. What the client sends meanwhile waits unread.
    socket.on('error', () => undefined);
    try {
      const wire = this.#wireOf(socket);
      if (wire.inside !== null) throw invalidRequest('A CONNECT within a CONNECT leads nowhere.');
      if (wire.unanswered > 0 || this.#isStopping) return void socket.destroy();
      await this.#connect(request, socket, head);
    } catch (error) {
      if (!isExpected(error)) this.#services.core.log.error({ err: error }, 'a CONNECT could not be answered');
      refuseConnect(socket, error);
    }
  }

  async #connect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const target = connectTarget(request);
    const principal = await this.#identify(request);
    const found = await this.#findConnection(principal, target);
    const begin = () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) socket.unshift(head);
    };
    if (found === null) {
      if (this.#services.settings.others === 'refuse') throw ruleRefused(target);
      return this.#tunnels.open(socket, principal, target, begin);
    }
    const place = placeOf(this.#handshakes, principal.accountId);
    if (place === null) throw tooManyAtOnce('This account has too many connections that begin: open fewer at once.');
    try {
      const context = await this.#leaves.leafFor(target.host);
      if (socket.destroyed) return place.release();
      begin();
      this.#endTls(socket, context, place, { principal, connection: found.connection, target });
    } catch (error) {
      place.release();
      throw error;
    }
  }

  /** TLS of the client, for the host that it named and no other. */
  #endTls(
    socket: Socket,
    secureContext: SecureContext,
    handshake: { release(): void },
    inside: Inside<Connection>,
  ): void {
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, done) => {
        const isNamed = readAuthority(name, inside.target.port)?.host === inside.target.host;
        if (isNamed) done(null, secureContext);
        else done(new Error('the TLS is for another host than the CONNECT'));
      },
    });
    const late = setTimeout(() => socket.destroy(), this.#services.core.bounds.proxy.handshakeMs);
    // A client that leaves within the handshake.
    const leave = () => socket.destroy();
    const endHandshake = () => {
      secure.off('end', leave);
      clearTimeout(late);
      handshake.release();
    };
    secure.on('error', () => undefined).once('end', leave);
    secure.once('close', () => {
      endHandshake();
      socket.destroy();
    });
    socket.once('close', () => secure.destroy());
    secure.once('secure', () => {
      endHandshake();
      if (this.#isStopping) return void socket.destroy();
      this.#wires.set(secure, wireOf(socket, inside));
      this.#server.emit('connection', secure);
    });
  }

  /** Throws UNAUTHORIZED, INVALID_API_KEY, RATE_LIMITED, ACCOUNT_SUSPENDED and ProxyRefusal. */
  async #identify(request: IncomingMessage): Promise<Principal> {
    const credential = proxyCredential(request);
    if (credential === null)
      throw problem('UNAUTHORIZED', {
        message: 'This proxy takes an API key: as the password of its address, http://qm:KEY@host:port.',
      });
    const { socket } = request;
    const principal = await this.#services.door.identify(credential, this.#wireOf(socket).remoteAddress);
    if (!this.#places.identify(socket, principal.accountId))
      throw tooManyAtOnce('This account has too many connections to the proxy: close some.');
    return principal;
  }

  async #findConnection(
    principal: Principal,
    { host, port }: Authority,
  ): Promise<{ readonly connection: Connection } | null> {
    const found = await this.#services.host.findConnection(principal, host, port);
    if (found === 'ambiguous')
      throw new ProxyRefusal(
        409,
        'STATE_CONFLICT',
        `Two connections name ${host} alike: give one of them other hosts or keys, or call by POST /v1/vault/call.`,
      );
    return found === 'none' ? null : found;
  }

  #wireOf(socket: Socket): Wire<Connection> {
    const wire = this.#wires.get(socket);
    if (wire === undefined) throw new Error('a request came by a connection that was not taken');
    return wire;
  }
}

/** Its client waits until somebody wants the body (RFC 9110, section 10.1.1): what is refused is never sent. */
function bodyAfterContinue(request: IncomingMessage, response: ServerResponse): Readable {
  async function* body() {
    response.writeContinue();
    yield* request;
  }
  // Its reader fails with it; without one it is nobody's.
  return Readable.from(body(), { objectMode: false }).on('error', () => undefined);
}

function wireOf<Connection>(client: Socket, inside: Inside<Connection> | null): Wire<Connection> {
  return { client, remoteAddress: client.remoteAddress ?? '', inside, answered: Promise.resolve(), unanswered: 0 };
}

function ruleRefused({ host, port }: Authority): ProxyRefusal {
  return new ProxyRefusal(
    403,
    'RULE_REFUSED',
    `No connection that this key may use names ${host}:${port}. Add the host by PUT /v1/vault/connection/set, or exempt it by NO_PROXY.`,
  );
}
