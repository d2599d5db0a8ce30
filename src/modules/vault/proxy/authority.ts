// The authority of a request: `host:port` (RFC 9112, section 3.2). What two readers could take for different hosts is refused.
import { readAddress } from '../../../lib/address.ts';

export interface Authority {
  /** A name in lower case without a final dot, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9_])?)\.?(?::(\d{1,5}))?$/i;
const PORT_MAX = 65_535;

/** Null: it is none. @param usualPort where it names none; null: it must */
export function readAuthority(text: string, usualPort: number | null): Authority | null {
  const [, name = '', digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? usualPort : Number(digits);
  if (name === '' || port === null || port === 0 || port > PORT_MAX) return null;
  const host = hostOf(name.toLowerCase());
  return host === null ? null : { host, port };
}

/** The URL standard reads `127.1` and `0x7f000001` as an address: a host is one only in its usual form. */
function hostOf(name: string): string | null {
  const read = URL.parse(`http://${name}`)?.hostname;
  if (name.startsWith('[')) return read === undefined ? null : (readAddress(read.slice(1, -1))?.toString() ?? null);
  return read === name ? name : null;
}

export function isSame(a: Authority, b: Authority): boolean {
  return a.host === b.host && a.port === b.port;
}
