// Reads the head of a request that is to be relayed, and refuses what two readers could read in two ways.
import type { IncomingMessage } from 'node:http';
import type { Credential } from '../../../core/credentials/credential.ts';
import { basic, bearer } from '../../../core/credentials/http-schemes.ts';
import { type Authority, isSame, readAuthority } from './authority.ts';
import { invalidRequest, ProxyRefusal } from './refusal.ts';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const ABSOLUTE = /^http:\/\/([^/?#]*)(\/[^#]*|\?[^#]*)?$/i;
/** They end at the proxy (RFC 9110, section 7.6.1), as does `Expect`, which it answers. */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The key that a client shows the proxy: the password of Basic, or a bearer token. */
export function proxyCredential(request: IncomingMessage): Credential | null {
  const authorization = request.headers['proxy-authorization'];
  const headers = authorization === undefined ? {} : { authorization };
  return basic('password', { headers }) ?? bearer({ headers });
}

/** Where a CONNECT leads. Throws ProxyRefusal. */
export function connectTarget(request: IncomingMessage): Authority {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length !== undefined || coding !== undefined) throw invalidRequest('A CONNECT has no body.');
  const target = readAuthority(request.url ?? '', null);
  if (target === null) throw invalidRequest('CONNECT names a host and a port, such as api.example.com:443.');
  return target;
}

export interface RequestTarget extends Authority {
  /** Path and query. */
  readonly url: string;
}

/** Of a request outside of TLS: its address is absolute. Throws ProxyRefusal. */
export function absoluteTarget(request: IncomingMessage): RequestTarget {
  const [, authority, path = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (authority === undefined)
    throw invalidRequest(
      'This port is a proxy: set it as HTTPS_PROXY. It takes CONNECT, and requests of absolute http addresses.',
    );
  const target = readAuthority(authority, HTTP_PORT);
  if (target === null) throw invalidRequest('The host of the address cannot be read.');
  requireHost(request, target, HTTP_PORT);
  requireNoUpgrade(request);
  return { ...target, url: path.startsWith('/') ? path : `/${path}` };
}

/** Of a request within the TLS of a CONNECT. Throws ProxyRefusal. */
export function tunnelledTarget(request: IncomingMessage, target: Authority): RequestTarget {
  const { url = '' } = request;
  if (!url.startsWith('/')) throw invalidRequest('A request within a CONNECT names its path alone.');
  requireHost(request, target, HTTPS_PORT);
  requireNoUpgrade(request);
  return { ...target, url };
}

/** One Host, that of the target (RFC 9112, section 3.2; RFC 9110, section 15.5.20). */
function requireHost({ rawHeaders }: IncomingMessage, target: Authority, usualPort: number): void {
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
  const named = hosts.length === 1 ? readAuthority(hosts[0] as string, usualPort) : null;
  if (named === null) throw invalidRequest('A request has one Host header, which names a host.');
  if (!isSame(named, target))
    throw new ProxyRefusal(
      421,
      'INVALID_REQUEST',
      'The Host header names another host than the connection was made to.',
    );
}

/** HTTP/2 without TLS is offered by some clients, and need not be taken. */
function requireNoUpgrade({ headers: { upgrade } }: IncomingMessage): void {
  if (upgrade === undefined || /^\s*h2c\s*$/i.test(upgrade)) return;
  throw new ProxyRefusal(501, 'INVALID_REQUEST', 'WebSockets and other upgrades are not relayed.');
}

/** Without those of this connection, which the header Connection names, too. */
export function endToEndHeaders({ rawHeaders, headers }: IncomingMessage): (readonly [string, string])[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...OF_CONNECTION, ...named]);
  const kept: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i] as string, rawHeaders[i + 1] as string];
    if (!dropped.has(name.toLowerCase())) kept.push([name, value]);
  }
  return kept;
}

/** Null: it comes in chunks. */
export function announcedBytes({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}
