// The idempotency key from body, header or (DELETE) query, taken out of the input; with the fingerprint of the request.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { problem } from '../../problems/problem.ts';
import type { Call, Request } from '../call.ts';
import type { Step } from '../step.ts';

const KEY = /^[\x20-\x7e]{1,255}$/;
const FIELD = 'idempotency_key';
const HEADER = 'idempotency-key';
const left = new Set([FIELD]);

export const readIdempotencyKey: Step = (call) => {
  const sent = sentKeys(call);
  if (sent.length === 0) return;
  if (!call.endpoint.capability.idempotent) {
    call.warnings.push(`${FIELD}: ignored, ${call.capability} does not take an idempotency key`);
    return;
  }
  const key = theOne(sent);
  call.idempotency = {
    raw: key,
    hash: call.core.secrets.idempotencyHash(call.capability, key),
    fingerprint: call.bulk?.fingerprint ?? requestFingerprint(fingerprintPrefix(call), call.bodyText),
  };
};

function sentKeys(call: Call): unknown[] {
  const found: unknown[] = [];
  const { input, request, endpoint } = call;
  if (Object.hasOwn(input, FIELD)) {
    found.push(input[FIELD]);
    delete input[FIELD];
  }
  found.push(...headerKeys(request));
  if (endpoint.capability.method === 'DELETE') found.push(...request.query.getAll(FIELD));
  return found;
}

/** The key that comes by another way than the body; the first of several. */
export function keyBesideBody({ request }: Call): string | null {
  return headerKeys(request)[0] ?? null;
}

/** A comma may stand in one key, or between the keys of several headers. */
function headerKeys(request: Request): readonly string[] {
  const header = request.headers[HEADER] as string | undefined;
  if (header === undefined) return [];
  return header.includes(', ') ? request.headerValues(HEADER) : [header];
}

function theOne(sent: readonly unknown[]): string {
  const [key] = sent;
  if (sent.some((other) => other !== key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: FIELD,
      detail: 'conflict',
      message: 'Body, headers and query name different idempotency keys.',
    });
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw problem('INVALID_IDEMPOTENCY_KEY', {
      param: FIELD,
      message: `${FIELD} must be 1 to 255 printable ASCII characters.`,
    });
  }
  return key;
}

/** What the fingerprint of a request holds beside its body: path parameters and query. */
export function fingerprintPrefix(call: Call): string {
  const { params, query } = call.request;
  const names = Object.keys(params).sort();
  const path = names.map((name) => `${name}=${params[name]}`).join('\n');
  const pairs = [...query].filter(([name]) => name !== FIELD).map(([name, value]) => JSON.stringify([name, value]));
  return `${path}\n\n${pairs.sort().join('\n')}\n\n`;
}

/** SHA-256 over path parameters, query and canonical body without the key: 132 bits in base64url. */
export function requestFingerprint(prefix: string, bodyText: string): string {
  const body = bodyText === '' ? '{}' : canonicalJson(bodyText, left);
  return hash('sha256', `${prefix}${body}`, 'base64url').slice(0, 22);
}
