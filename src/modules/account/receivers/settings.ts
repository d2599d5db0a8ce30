// Settings of receivers: what a call sends, checked, as a row has it.
import { randomBytes } from 'node:crypto';
import type { LivePrincipal } from '../../../core/callers/principal.ts';
import { ruleSteps } from '../../../kit/json-logic/cost.ts';
import { invalidField } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import { defaultHeaders, type Encoding, type Scheme, standardKey } from './schemes.ts';
import { capabilityOf, mayPublish, type ReceiverRow } from './store.ts';

interface SentVerification {
  readonly scheme: Scheme;
  readonly secret?: string | null;
  readonly header?: string | null;
  readonly encoding?: Encoding | null;
}

export interface CheckedVerification {
  readonly columns: Pick<ReceiverRow, 'scheme' | 'header' | 'encoding'>;
  /** Null: of `none`. Undefined: the one that is there stays. */
  readonly secret: string | null | undefined;
  /** Whether it was made here. */
  readonly isMade: boolean;
}

const STANDARD_KEY_BYTES = { min: 16, max: 128 };

/** `before`: scheme of a receiver that changes; absent, its secret stays while its scheme does. Throws VALIDATION_FAILED that names the field. */
export function checkVerification(
  { scheme, secret: sent, header = null, encoding = null }: SentVerification,
  before: Scheme | null = null,
): CheckedVerification {
  const secret = sent ?? null;
  const takesHeader = scheme === 'hmac' || scheme === 'token';
  if (header !== null && !takesHeader) throw notOfScheme('header', 'hmac and token', scheme);
  if (encoding !== null && scheme !== 'hmac') throw notOfScheme('encoding', 'hmac', scheme);
  const columns = {
    scheme,
    header: takesHeader ? (header?.toLowerCase() ?? defaultHeaders[scheme] ?? null) : null,
    encoding: scheme === 'hmac' ? (encoding ?? 'hex') : null,
  };
  if (scheme === 'none') {
    if (secret !== null) throw notOfScheme('secret', 'all schemes but none', scheme);
    return { columns, secret: null, isMade: false };
  }
  if (sent === undefined && scheme === before) return { columns, secret: undefined, isMade: false };
  if (secret !== null) {
    if (scheme === 'standard') requireStandardSecret(secret);
    return { columns, secret, isMade: false };
  }
  if (scheme === 'stripe' || scheme === 'slack') {
    const where = scheme === 'stripe' ? 'its signing secret (whsec_…)' : 'the Signing Secret of its app';
    throw invalidField('verify.secret', 'required', `verify.secret is required: ${scheme} makes ${where}.`);
  }
  const bytes = randomBytes(32);
  const made = scheme === 'standard' ? `whsec_${bytes.toString('base64')}` : bytes.toString('base64url');
  return { columns, secret: made, isMade: true };
}

function requireStandardSecret(secret: string): void {
  const { length } = standardKey(secret);
  const isBase64 = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/.test(secret);
  if (isBase64 && length >= STANDARD_KEY_BYTES.min && length <= STANDARD_KEY_BYTES.max) return;
  const { min, max } = STANDARD_KEY_BYTES;
  throw invalidField(
    'verify.secret',
    'format',
    `verify.secret must be whsec_ and the base64 of ${min} to ${max} bytes.`,
  );
}

function notOfScheme(field: string, of: string, scheme: Scheme) {
  return invalidField(`verify.${field}`, 'unused', `verify.${field} is of ${of}, and the scheme is ${scheme}.`);
}

/** Throws VALIDATION_FAILED. */
export function checkTarget({ queue, channel }: { readonly queue?: string; readonly channel?: string }) {
  if (queue !== undefined && channel === undefined) return { target_kind: 'queue', target: queue } as const;
  if (channel !== undefined && queue === undefined) return { target_kind: 'channel', target: channel } as const;
  throw invalidField('to', 'required', 'to must be {"queue": name} or {"channel": name}.');
}

/** As JSON. The rule is bounded before it may run. Throws VALIDATION_FAILED. */
export function checkFilter(
  filter: { readonly events?: readonly string[] | null; readonly json?: unknown } | null,
): string | null {
  if (filter === null) return null;
  const { events = null, json = null } = filter;
  if (json !== null) {
    if (typeof json !== 'object' || Array.isArray(json)) {
      throw invalidField(
        'filter.json',
        'type',
        'filter.json must be a rule of JsonLogic: {"==": [{"var": "event"}, "push"]}.',
      );
    }
    ruleSteps(json, 'filter.json');
  }
  return events === null && json === null ? null : JSON.stringify({ events, json });
}

/**
 * A receiver goes on when the key that made it has ended, and spends without its cap: so a key hands out no more by it than by a new key.
 * Throws INSUFFICIENT_SCOPE, EXPIRY_TOO_LATE, SCOPE_ESCALATION.
 */
export function requireMayPublish(caller: LivePrincipal, row: Pick<ReceiverRow, 'target_kind'>): void {
  const capability = capabilityOf[row.target_kind];
  if (!mayPublish(caller.scopes, row)) {
    throw problem('INSUFFICIENT_SCOPE', {
      message: `The receiver would call ${capability}, and this key may not: it needs a scope such as ${capability}.`,
      detail: capability,
      param: 'to',
    });
  }
  if (caller.cap !== null) {
    throw problem('SCOPE_ESCALATION', {
      message: 'The calling key has a spend cap, and a receiver would spend beyond it: use a key without one.',
      detail: 'spend_cap',
    });
  }
  if (caller.expiresAtMs !== null) {
    throw problem('EXPIRY_TOO_LATE', {
      message: 'The calling key expires, and the address of a receiver would outlive it: use a key that does not.',
    });
  }
}
