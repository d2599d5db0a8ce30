// Parses a URL into its target, and applies the rules that need no lookup (contract of webhooks "URL check"). The WHATWG parser decides
// the host: 127.1, 0x7f.1, 2130706433, 0177.0.0.1 and full-width digits all become 127.0.0.1.
import { type Address, readAddress } from '../../lib/address.ts';
import { refusedPorts, urlCharactersMax } from './limits.ts';

export interface Refusal {
  readonly rule: 'url' | 'scheme' | 'userinfo' | 'port' | 'host' | 'address';
  /** A sentence that names the rule, never an address. */
  readonly message: string;
}

export interface Target {
  readonly secure: boolean;
  /** A name in lower case without its final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the query, without the fragment: that is never sent (RFC 9110, section 4.1). */
  readonly path: string;
  /** The host, when it is an address itself. */
  readonly literal: Address | null;
  /** What stands against it unless its addresses lie in networks that the operator exempts. */
  readonly refusal: Refusal | null;
}

/** Names that never leave a network: RFC 6761, 6762, 8375 and ICANN's reservation of `.internal`. */
const PRIVATE_ZONES = ['localhost', 'local', 'internal', 'home.arpa'];

/** Reads a URL; a Refusal is one that no configuration exempts from. `isOfWeb`: plain http too, of the web's two ports alone. */
export function readTarget(url: string, charactersMax = urlCharactersMax, isOfWeb = false): Target | Refusal {
  if (url.length > charactersMax) return refusal('url', `The URL has more than ${charactersMax} characters.`);
  // The parser drops tabs and line breaks in silence, so what was checked by eye and what is called would differ.
  if (!url.isWellFormed() || /[\0-\x20\x7f]/.test(url)) {
    return refusal('url', 'The URL holds spaces, control characters or lone surrogates.');
  }
  const parsed = URL.parse(url);
  if (parsed === null) return refusal('url', 'The URL cannot be read.');
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') {
    return refusal('scheme', isOfWeb ? 'The URL must be http or https.' : 'The URL must be https.');
  }
  // An empty userinfo (`https://@host`) leaves no trace in the parsed URL.
  if (parsed.username !== '' || parsed.password !== '' || authority(url).includes('@')) {
    return refusal('userinfo', 'The URL must not hold a user name or password; use a header.');
  }
  return targetOf(parsed, isOfWeb);
}

function targetOf(parsed: URL, isOfWeb: boolean): Target {
  const secure = parsed.protocol === 'https:';
  const host = parsed.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port);
  const literal = readAddress(host);
  const broken = literal === null ? nameRefusal(host) : null;
  return {
    secure,
    host,
    port,
    path: parsed.pathname + parsed.search,
    literal,
    refusal: (isOfWeb ? webRefusal(port) : callRefusal(secure, port)) ?? broken,
  };
}

function webRefusal(port: number): Refusal | null {
  return port === 80 || port === 443
    ? null
    : refusal('port', `Port ${port} is not allowed: pages are read at 80 and 443.`);
}

function callRefusal(secure: boolean, port: number): Refusal | null {
  if (!secure) return refusal('scheme', 'The URL must be https.');
  return refusedPorts.has(port) ? refusal('port', `Port ${port} is not allowed.`) : null;
}

function nameRefusal(name: string): Refusal | null {
  const labels = name.split('.');
  if (labels.length < 2 || labels.includes('')) {
    return refusal('host', 'The host must be a full public name; single labels and empty ones are refused.');
  }
  const zone = PRIVATE_ZONES.find((suffix) => name.endsWith(`.${suffix}`));
  return zone === undefined ? null : refusal('host', `Names under .${zone} are refused.`);
}

function authority(url: string): string {
  return /^[a-z]+:[/\\]*([^/\\?#]*)/i.exec(url)?.[1] ?? '';
}

function refusal(rule: Refusal['rule'], message: string): Refusal {
  return { rule, message };
}
