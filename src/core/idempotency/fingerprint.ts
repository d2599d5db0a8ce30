// Fingerprint of a request, which identifies repeats under one idempotency key. It is the same for every interface by which the request arrives.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';

export const KEY_FIELD = 'idempotency_key';
const NO_QUERY = new URLSearchParams();
/** Of a request with neither: most have a body alone. */
const BODY_ALONE = '\n\n\n\n';

/** What the fingerprint of a request holds beside its body: path parameters, and the pairs of a query. */
export function fingerprintPrefix(params: Readonly<Record<string, unknown>>, query = NO_QUERY): string {
  const names = Object.keys(params).sort();
  if (names.length === 0 && query.size === 0) return BODY_ALONE;
  const path = names.map((name) => `${name}=${params[name]}`).join('\n');
  const pairs = [...query].filter(([name]) => name !== KEY_FIELD).map(([name, value]) => JSON.stringify([name, value]));
  return `${path}\n\n${pairs.sort().join('\n')}\n\n`;
}

const keyAlone: ReadonlySet<string> = new Set([KEY_FIELD]);

/** SHA-256 over path parameters, query and canonical body, without the key and the names `left`: 132 bits in base64url. */
export function requestFingerprint(prefix: string, bodyText: string, left = keyAlone): string {
  const body = bodyText === '' ? '{}' : canonicalJson(bodyText, left);
  return hash('sha256', `${prefix}${body}`, 'base64url').slice(0, 22);
}
