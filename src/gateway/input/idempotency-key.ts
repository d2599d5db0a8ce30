// The idempotency key of a call, taken out of its input; with the fingerprint of the request, the same by whatever way it comes.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';

const KEY = /^[\x20-\x7e]{1,255}$/;
export const KEY_FIELD = 'idempotency_key';

/**
 * Takes the key out of the input, with what was sent for it elsewhere. `fingerprint`: of the request, made when there is a key.
 * Throws INVALID_IDEMPOTENCY_KEY.
 */
export function takeIdempotencyKey(call: Call, beside: readonly unknown[], fingerprint: () => string): void {
  const { input } = call;
  const sent = [...(Object.hasOwn(input, KEY_FIELD) ? [input[KEY_FIELD]] : []), ...beside];
  if (sent.length === 0) return;
  delete input[KEY_FIELD];
  if (!call.endpoint.capability.idempotent) {
    call.warnings.push(`${KEY_FIELD}: ignored, ${call.capability} does not take an idempotency key`);
    return;
  }
  const key = theOne(sent);
  const { secrets } = call.core;
  call.idempotency = { raw: key, hash: secrets.idempotencyHash(call.capability, key), fingerprint: fingerprint() };
}

function theOne(sent: readonly unknown[]): string {
  const [key] = sent;
  if (sent.some((other) => other !== key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: KEY_FIELD,
      detail: 'conflict',
      message: 'Body, headers and query name different idempotency keys.',
    });
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: KEY_FIELD,
      message: `${KEY_FIELD} must be 1 to 255 printable ASCII characters.`,
    });
  }
  return key;
}

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
