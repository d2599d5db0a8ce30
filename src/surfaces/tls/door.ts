// TLS termination: the certificate, the limit on concurrent handshakes, and the protocol of a connection (ALPN).
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsSettings } from '../../config/tls.ts';
import type { Admission } from '../../core/admission.ts';
import type { Logger } from '../../core/process/logger.ts';
import { FairPlaces } from '../../lib/fair-places.ts';
import { networkOf } from '../../lib/network-of.ts';
import { readCertificate, watchCertificate } from './certificate.ts';
import { Http2Sessions } from './http2.ts';

const HANDSHAKE_MS = 10_000;

export interface TlsDoorOptions {
  readonly settings: TlsSettings;
  readonly log: Logger;
  readonly bounds: Admission;
  /** Open at once, in all; an address has half of what is free. */
  readonly connectionsMax: number;
  /** Whether the address is a proxy's. */
  readonly isProxy: (address: string) => boolean;
}

interface HttpServer {
  readonly server: Server;
  /** Gives a connection to Node's HTTP/1.1. */
  serve(socket: Socket): void;
}

/** `tls` null: plain HTTP. `take` gets each connection that is ready to carry HTTP/1.1. Throws StartupError. */
export function createHttpServer(
  http: ServerOptions,
  tls: TlsDoorOptions | null,
  take: (socket: Socket) => void,
): HttpServer {
  const server = tls === null ? createServer(http) : createTlsServer(http, tls);
  const event = tls === null ? 'connection' : 'secureConnection';
  const listeners = server.listeners(event) as ((socket: Socket) => void)[];
  server.removeAllListeners(event);
  if (tls === null) server.on(event, take);
  else openDoor(server as TlsServer, tls, take);
  return {
    // Node's two servers differ in what they are made with only.
    server: server as Server,
    serve: (socket) => {
      for (const listener of listeners) listener.call(server, socket);
    },
  };
}

function createTlsServer(http: ServerOptions, options: TlsDoorOptions): TlsServer {
  const { cert, key } = readCertificate(options.settings);
  const secure = { cert, key, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: HANDSHAKE_MS };
  const server = createSecureServer({ ...http, ...secure });
  boundHandshakes(server, options);
  return server;
}

function openDoor(server: TlsServer, { settings, log, bounds }: TlsDoorOptions, take: (socket: Socket) => void): void {
  const sessions = new Http2Sessions(bounds.connection, take);
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') sessions.serve(socket);
    else take(socket);
  });
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const [close, closeAll] = [server.close.bind(server), server.closeAllConnections.bind(server)];
  server.close = (done) => {
    sessions.close();
    return close(done);
  };
  server.closeAllConnections = () => {
    sessions.destroy();
    closeAll();
  };
  const stop = watchCertificate(settings, log, (renewed) => server.setSecureContext(renewed));
  server.once('close', stop);
}

/** Before anything is known of a connection, it has cost little and must not cost more. */
function boundHandshakes(server: TlsServer, { connectionsMax, isProxy }: TlsDoorOptions): void {
  const places = new FairPlaces(connectionsMax);
  const begin = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const owner = networkOf(address);
    if (!isProxy(address)) {
      if (!places.take(owner, 1)) return void socket.destroy();
      socket.once('close', () => places.release(owner, 1));
    }
    for (const listener of begin) listener.call(server, socket);
  });
}
