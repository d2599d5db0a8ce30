// The proxy of a service, with a module whose side of it is the test's: which hosts have connections, and what becomes of a request.
import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import net, { type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { Type } from 'typebox';
import { type Admission, admission } from '../../src/core/admission.ts';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { ProtocolDoor } from '../../src/kit/protocol-server.ts';
import type { Services } from '../../src/kit/services.ts';
import { caPem } from '../../src/modules/vault/proxy/ca.ts';
import type { ProxiedRequest } from '../../src/modules/vault/proxy/proxy-host.ts';
import { openProxy } from '../../src/modules/vault/proxy/proxy-server.ts';
import { problem } from '../../src/problems/problem.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { freePort } from '../support/process.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

export type Relayed = ProxiedRequest<string>;
export type Relay = (request: Relayed, door: ProtocolDoor) => Promise<void>;

export interface ProxyBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  /** What was relayed so far, without the bodies. */
  readonly relayed: Relayed[];
  /** What becomes of a request; `sayWhatCame` until a test says otherwise. */
  relay: Relay;
  /** Where tunnels lead; the guarded client until a test says otherwise. */
  openTunnel: OutboundClient['openTunnel'] | null;
  stop(): Promise<void>;
}

export interface BenchOptions {
  readonly others?: 'refuse' | 'tunnel';
  readonly proxy?: Partial<Admission['proxy']>;
}

interface CourierState {
  readonly core: Services;
}

const carry = defineCapability<CourierState>()({
  method: 'POST',
  path: '/v1/courier/carry',
  summary: 'Carries.',
  description: 'Carries.',
  events: [],
  errors: [],
  input: Type.Object({}),
  output: Type.Object({}),
  examples: [],
  run: () => Promise.reject(new Error('only its proxy is used')),
});

export const sayWhatCame: Relay = async ({ method, host, port, url, headers, body, response, connection }) => {
  const came = { method, host, port, url, headers, body: await text(body), connection };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(came));
};

/** As a call of the module's capability: with scope, rate and log. */
export const asCall: Relay = async (request, door) => {
  const { principal, method, url, remoteAddress, signal, response } = request;
  const call = {
    capability: 'courier.carry',
    entryForm: 'proxy',
    method,
    path: url,
    principal,
    remoteAddress,
  } as const;
  await door.perform({ ...call, input: {}, bodyBytes: 0, idempotencyKey: null, signal }, async () => {
    if (url === '/down') throw problem('VENDOR_DOWN');
    response.end('carried');
    return { data: {} };
  });
};

const CONNECTIONS: Readonly<Record<string, 'ambiguous' | { readonly connection: string }>> = {
  'api.example.org:443': { connection: 'example' },
  'api.example.org:80': { connection: 'example' },
  'other.example.org:443': { connection: 'other' },
  'api.example.org:8443': { connection: 'example' },
  '203.0.113.7:443': { connection: 'address' },
  'two.example.org:443': 'ambiguous',
};

export async function startProxyBench({ others = 'refuse', proxy = {} }: BenchOptions = {}): Promise<ProxyBench> {
  const port = await freePort();
  const state = { relayed: [] as Relayed[], relay: sayWhatCame, openTunnel: null as ProxyBench['openTunnel'] };
  const courier = defineModule<CourierState>({
    name: 'courier',
    summary: 'Carries requests.',
    status: 'beta',
    capabilities: [carry],
    start: (core) => ({ core }),
    servers: [
      {
        setting: 'VAULT_PORT',
        port: () => port,
        open: async ({ core }, door) =>
          openProxy<string>({
            core: {
              secrets: core.secrets,
              log: core.log,
              bounds: { ...core.bounds, proxy: { ...admission.proxy, ...proxy } },
              outbound: {
                ...core.outbound,
                openTunnel: (request) => (state.openTunnel ?? core.outbound.openTunnel.bind(core.outbound))(request),
              } as OutboundClient,
            },
            settings: { others },
            door,
            host: {
              async findConnection({ scopes }, host, at) {
                if (scopes !== null && !scopes.includes('courier:write')) throw problem('INSUFFICIENT_SCOPE');
                return CONNECTIONS[`${host}:${at}`] ?? 'none';
              },
              relay(request) {
                state.relayed.push(request);
                return state.relay(request, door);
              },
            },
          }),
      },
    ],
  });
  const service = await startTestService({ extraModules: [courier] });
  const account = await createTestAccount(service.core, 5);
  return Object.assign(state, { service, account, port, ca: caPem(service.core.secrets), stop: () => service.stop() });
}

export const basicOf = (secret: string) => `Basic ${Buffer.from(`qm:${secret}`).toString('base64')}`;

/** One connection, byte by byte. */
export class RawClient {
  readonly socket: Socket | TLSSocket;
  #text = '';

  constructor(socket: Socket | TLSSocket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (piece: string) => {
      this.#text += piece;
    });
    socket.on('error', () => undefined);
  }

  static async open(port: number, allowHalfOpen = false): Promise<RawClient> {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(bytes: string): this {
    this.socket.write(bytes, 'latin1');
    return this;
  }

  /** What has come, once it matches; also at the end of the connection. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.socket.readableEnded || this.socket.destroyed) break;
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')]);
    }
    return this.#text;
  }

  /** All that comes until the other side ends the connection. */
  async rest(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.#text;
  }
}

export interface Connected {
  readonly status: number;
  readonly head: string;
  readonly socket: Socket;
}

const clients = new Set<Socket>();

/** Ends what `connect` has opened. */
export function closeClients(): void {
  for (const socket of clients) socket.destroy();
  clients.clear();
}

/** A CONNECT, and what is answered. */
export async function connect(
  { port, account }: Pick<ProxyBench, 'port' | 'account'>,
  target = 'api.example.org:443',
  authorization: string | null = basicOf(account.secret),
): Promise<Connected> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  clients.add(socket);
  const shown = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${shown}\r\n`);
  let head = '';
  while (!head.includes('\r\n\r\n')) {
    const piece = socket.read() as Buffer | null;
    if (piece !== null) head += piece.toString('latin1');
    else if (socket.readableEnded || socket.closed) break;
    else await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
  return { status: Number(head.split(' ')[1]), head, socket };
}

/** The TLS within a CONNECT. Rejects where the handshake fails. */
export async function secureOf(
  bench: ProxyBench,
  options: ConnectionOptions = {},
  target = 'api.example.org:443',
): Promise<TLSSocket> {
  const { socket, head } = await connect(bench, target);
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(head);
  const secure = connectTls({ socket, ca: bench.ca, servername: target.split(':')[0], ...options });
  secure.on('error', () => undefined);
  const closed = once(secure, 'close').then(() => Promise.reject(new Error('the handshake failed')));
  await Promise.race([once(secure, 'secureConnect'), closed]);
  return secure;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A request by Node's client, in a CONNECT of its own. */
export async function fetchThrough(
  bench: ProxyBench,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Received> {
  const secure = await secureOf(bench);
  const host = 'api.example.org';
  const sent = sendRequest({ host, path, method, headers: { host, ...headers }, createConnection: () => secure }).end(
    body,
  );
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const received = { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
  secure.destroy();
  return received;
}
