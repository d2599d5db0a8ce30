// The proxy's other side: which connection a host belongs to, and requests as calls of vault.call.
import { pipeline } from 'node:stream/promises';
import type { Principal } from '../../../core/callers/principal.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import type { ProtocolDoor } from '../../../kit/protocol-server.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { problem } from '../../../problems/problem.ts';
import { findConnection } from '../calls/url.ts';
import { ruleRefused } from '../connections/rule.ts';
import { connectionsOfHost } from '../connections/store.ts';
import { CALL } from '../limits.ts';
import { AskedBody } from '../path/asked-body.ts';
import { relayRequest } from '../path/relay-request.ts';
import { hostMatchLength } from '../rule/hosts.ts';
import { readRequestPath } from '../rule/target.ts';
import type { VaultState } from '../state.ts';
import type { ProxiedRequest, ProxyHost } from './proxy-host.ts';

/** By its name. */
export class VaultProxyHost implements ProxyHost<string> {
  readonly #state: VaultState;
  readonly #door: ProtocolDoor;

  constructor(state: VaultState, door: ProtocolDoor) {
    this.#state = state;
    this.#door = door;
  }

  async findConnection(principal: Principal, host: string, port: number) {
    if (!scopesAllow(principal.scopes, CALL, 'write'))
      throw problem('INSUFFICIENT_SCOPE', {
        detail: CALL,
        message: `The proxy makes calls of ${CALL}: this key may not.`,
      });
    const named = await connectionsOfHost(this.#state.core.db, principal.accountId, host);
    const usable = named.filter(({ keys }) => keys === null || keys.includes(principal.id));
    const ranked = usable.map(({ connection, hosts }) => ({ connection, length: hostMatchLength(hosts, host, port) }));
    const longest = Math.max(0, ...ranked.map(({ length }) => length));
    const [first, ...alike] = ranked.filter(({ length }) => length > 0 && length === longest);
    if (first === undefined) return 'none';
    return alike.length > 0 ? 'ambiguous' : { connection: first.connection };
  }

  async relay(request: ProxiedRequest<string>): Promise<void> {
    const { principal, connection, method, host, port, secure, remoteAddress, signal, response } = request;
    const path = readRequestPath(request.url);
    if ('refusal' in path) throw ruleRefused('path', path.message);
    const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const body = new AskedBody({ headers, stream: request.body });
    const call = {
      capability: CALL,
      entryForm: 'proxy',
      method,
      path: path.path,
      principal,
      input: { connection, method, url: `${secure ? 'https' : 'http'}://${host}:${port}${request.url}` },
      content: () => body.read(),
      bodyBytes: 0,
      remoteAddress,
      idempotencyKey: null,
      signal,
    } as const;
    await this.#door.perform(call, async (ctx) => {
      const found = await findConnection(ctx, connection);
      const target = { secure, host, port, ...path };
      const bodyToSend = () => {
        if (body.bytes !== null) return { content: body.bytes };
        if (request.bodyBytes === 0) return { content: null };
        return { content: request.body, bytes: request.bodyBytes ?? undefined };
      };
      const answer = await relayRequest(ctx, this.#state, { found, method, target, headers, body: bodyToSend });
      await write(response, answer);
      return { data: null, costNanos: answer.costNanos as bigint };
    });
  }
}

async function write(
  response: ProxiedRequest<string>['response'],
  { status, headers, body }: RawAnswer,
): Promise<void> {
  response.writeHead(status, headers as Record<string, string | string[]>);
  if (typeof body === 'string') response.end(body);
  else await pipeline(body as AsyncIterable<Uint8Array>, response);
}
