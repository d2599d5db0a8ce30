// Receivers that speak, or fail to speak, byte by byte, and clients that may reach them on loopback.
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { createOutboundClient, type OutboundOptions } from '../../src/vendors/http/client.ts';
import type { OutboundClient, OutboundOutcome } from '../../src/vendors/http/port.ts';

export interface Receiver {
  readonly port: number;
  /** TCP connections ever accepted. */
  readonly connections: number;
  /** Those open now. */
  readonly open: number;
  /** All bytes received, of all connections. */
  readonly text: string;
  close(): Promise<void>;
}

/** Listens on a loopback address; `onRequest` is called for each request whose head has come, `onSocket` for each connection. */
export async function listen(options: {
  readonly host?: string;
  readonly port?: number;
  readonly onSocket?: (socket: Socket) => void;
  readonly onRequest?: (socket: Socket) => void;
}): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let text = '';
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that goes away in the midst is what many of these tests want.
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      if (chunk.includes('\r\n\r\n')) options.onRequest?.(socket);
    });
    options.onSocket?.(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get text() {
      return text;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A client for which loopback is allowed. */
export function loopbackClient(options: Partial<OutboundOptions> = {}): OutboundClient {
  const loopback = ['127.0.0.0/8', '::1/128'].map((range) => ipaddr.parseCIDR(range));
  return createOutboundClient({ allowPrivateTargets: loopback, allowPrivateSources: loopback, ...options });
}

/** One attempt with an empty object as its body. */
export function postTo(
  client: OutboundClient,
  url: string,
  more: { readonly headers?: Record<string, string>; readonly body?: string; readonly signal?: AbortSignal } = {},
): Promise<OutboundOutcome> {
  return client.post({ url, headers: {}, body: '{}', signal: new AbortController().signal, ...more });
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
