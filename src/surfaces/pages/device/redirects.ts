// Addresses to which a client may have a person sent back.
import { isLoopback } from '../../../lib/loopback.ts';

const ADDRESS_CHARACTERS_MAX = 2_000;
/** Addresses of these are programs or files of the browser. */
const FORBIDDEN_SCHEME = /^(?:javascript|data|vbscript|file|blob|about|filesystem|view-source|ws|wss|ftp):$/;

export function mayBeRedirect(uri: string): boolean {
  const url = uri.length > ADDRESS_CHARACTERS_MAX ? null : URL.parse(uri);
  if (url === null || uri.includes('#') || FORBIDDEN_SCHEME.test(url.protocol)) return false;
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol !== 'http:' || isLoopback(url.hostname);
}

/** The same, but for the port of a program on the person's own machine (RFC 8252, section 7.3). */
export function isSameRedirect(registered: unknown, sent: string): boolean {
  if (registered === sent) return true;
  if (typeof registered !== 'string') return false;
  const [one, other] = [URL.parse(registered), URL.parse(sent)];
  if (one?.protocol !== 'http:' || other?.protocol !== 'http:' || !isLoopback(one.hostname)) return false;
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search;
}
