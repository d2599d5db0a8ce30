// How senders prove themselves, and where they name event and delivery. Raw bytes are verified, in constant time; nothing of a body is parsed
// before. Schemes by their documents: GitHub "Validating webhook deliveries", Stripe "Verify manually", Slack "Verifying requests", Standard
// Webhooks 1.0.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sameDigest } from '../../../core/secrets/secrets.ts';
import { NAMED_CHARACTERS_MAX, SIGNATURES_MAX, TOLERANCE_MS } from './limits.ts';

export const schemes = ['github', 'stripe', 'slack', 'standard', 'hmac', 'token', 'none'] as const;
export type Scheme = (typeof schemes)[number];
export const encodings = ['hex', 'base64', 'base64url'] as const;
export type Encoding = (typeof encodings)[number];

export interface Verification {
  readonly scheme: Scheme;
  /** Empty of `none`. */
  readonly secret: string;
  /** In lower case. */
  readonly header: string;
  readonly encoding: Encoding;
}

export interface Sent {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export const defaultHeaders: Readonly<Partial<Record<Scheme, string>>> = {
  hmac: 'x-signature',
  token: 'authorization',
};

/** Why a request is not its sender's, in words for the sender; null: it is. */
export function refusalOf(verification: Verification, sent: Sent, nowMs: number): string | null {
  return verifiers[verification.scheme](verification, sent, nowMs);
}

type Verifier = (verification: Verification, sent: Sent, nowMs: number) => string | null;

const MISMATCH = 'The signature does not match the body and the secret of this receiver.';
const STALE = 'The timestamp of the signature is more than 5 minutes from now.';

const verifiers: Readonly<Record<Scheme, Verifier>> = {
  github: ({ secret }, { headers, body }) =>
    byHmac(headerOf(headers, 'x-hub-signature-256'), 'X-Hub-Signature-256', secret, body, 'hex'),
  hmac: ({ secret, header, encoding }, { headers, body }) =>
    byHmac(headerOf(headers, header), header, secret, body, encoding),
  token({ secret, header }, { headers }) {
    const given = headerOf(headers, header);
    if (given === null) return `The header ${header} is missing.`;
    const token = header === 'authorization' ? given.replace(/^Bearer +/i, '') : given;
    // Both texts: a secret may begin with the word itself.
    const isSame = [sameText(token, secret), sameText(given, secret)].includes(true);
    return isSame ? null : `The header ${header} does not have the secret of this receiver.`;
  },
  none: () => null,
  stripe({ secret }, { headers, body }, nowMs) {
    const given = headerOf(headers, 'stripe-signature');
    if (given === null) return 'The header Stripe-Signature is missing.';
    const pairs = given.split(',').map((pair) => pair.trim().split('=', 2));
    const time = pairs.find(([name]) => name === 't')?.[1] ?? '';
    const signatures = pairs.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []));
    return timedRefusal({ time, text: `${time}.`, signatures, secret, encoding: 'hex' }, body, nowMs);
  },
  slack({ secret }, { headers, body }, nowMs) {
    const time = headerOf(headers, 'x-slack-request-timestamp') ?? '';
    const given = headerOf(headers, 'x-slack-signature');
    if (given === null) return 'The header X-Slack-Signature is missing.';
    const signatures = given.startsWith('v0=') ? [given.slice(3)] : [];
    return timedRefusal({ time, text: `v0:${time}:`, signatures, secret, encoding: 'hex' }, body, nowMs);
  },
  standard({ secret }, { headers, body }, nowMs) {
    const id = standardHeader(headers, 'id');
    const time = standardHeader(headers, 'timestamp') ?? '';
    const given = standardHeader(headers, 'signature');
    if (id === null || given === null) return 'The headers webhook-id and webhook-signature are missing.';
    const signatures = given.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
    const key = standardKey(secret);
    return timedRefusal({ time, text: `${id}.${time}.`, signatures, secret: key, encoding: 'base64' }, body, nowMs);
  },
};

/** The bytes that a secret of Standard Webhooks stands for. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** Senders that are older than the standard have the names of Svix. */
function standardHeader(headers: IncomingHttpHeaders, name: string): string | null {
  return headerOf(headers, `webhook-${name}`) ?? headerOf(headers, `svix-${name}`);
}

interface Signed {
  /** Seconds since 1970, as they were sent. */
  readonly time: string;
  /** What is signed before the body. */
  readonly text: string;
  readonly signatures: readonly string[];
  readonly secret: string | Buffer;
  readonly encoding: Encoding;
}

function timedRefusal(
  { time, text, signatures, secret, encoding }: Signed,
  body: Buffer,
  nowMs: number,
): string | null {
  if (!/^\d{1,12}$/.test(time)) return 'The signature has no timestamp.';
  const digest = createHmac('sha256', secret).update(text).update(body).digest();
  const given = signatures.slice(0, SIGNATURES_MAX).map((one) => sameDigest(bytesOf(one, encoding), digest));
  if (!given.includes(true)) return MISMATCH;
  return Math.abs(nowMs - Number(time) * 1_000) > TOLERANCE_MS ? STALE : null;
}

/** A prefix that names the algorithm, as in `sha256=…`, is left out. */
function byHmac(given: string | null, name: string, secret: string, body: Buffer, encoding: Encoding): string | null {
  if (given === null) return `The header ${name} is missing.`;
  const digest = createHmac('sha256', secret).update(body).digest();
  return sameDigest(bytesOf(given.replace(/^sha256=/, ''), encoding), digest) ? null : MISMATCH;
}

function bytesOf(text: string, encoding: Encoding): Buffer {
  return Buffer.from(text, encoding);
}

/** Constant time whatever their lengths: digests are compared. */
export function sameText(one: string, other: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compared').update(text).digest();
  return sameDigest(digest(one), digest(other));
}

export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** What a request is about. */
export interface Named {
  readonly event: string | null;
  /** The sender's id of the delivery, by which a repeat is known; null: it names none, and each request is a message. */
  readonly deliveryId: string | null;
}

const eventHeaders = [
  ...['x-github-event', 'x-gitlab-event', 'x-gitea-event', 'x-shopify-topic', 'x-event-key', 'x-event-type'],
  ...['ce-type', 'x-event'],
];
const deliveryHeaders = [
  ...['webhook-id', 'svix-id', 'x-github-delivery', 'x-gitlab-event-uuid', 'x-gitea-delivery', 'x-shopify-webhook-id'],
  ...['x-event-id', 'x-delivery-id', 'ce-id', 'idempotency-key'],
];

/** `body`: of JSON or a form, read; else undefined. */
export function namedIn(scheme: Scheme, headers: IncomingHttpHeaders, body: unknown): Named {
  const { event, deliveryId } = senderNames(scheme, headers, fieldsOf(body));
  return { event: nameOrNull(event), deliveryId: nameOrNull(deliveryId) };
}

function senderNames(
  scheme: Scheme,
  headers: IncomingHttpHeaders,
  fields: Fields,
): { event: unknown; deliveryId: unknown } {
  const first = (names: readonly string[]) =>
    names.map((name) => headerOf(headers, name)).find((value) => value !== null);
  switch (scheme) {
    case 'github':
      return { event: first(['x-github-event']), deliveryId: first(['x-github-delivery']) };
    case 'stripe':
      return { event: fields.type, deliveryId: fields.id };
    case 'slack': {
      // Interactions are a form with JSON in `payload`; commands are a form.
      const inner = typeof fields.payload === 'object' ? fieldsOf(fields.payload) : fields;
      const event = fieldsOf(fields.event).type ?? inner.type ?? fields.command;
      return { event, deliveryId: fields.event_id ?? inner.trigger_id };
    }
    case 'standard':
      return { event: fields.type, deliveryId: standardHeader(headers, 'id') };
    default:
      return { event: first(eventHeaders) ?? fields.type ?? fields.event, deliveryId: first(deliveryHeaders) };
  }
}

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Text that PostgreSQL takes, and not too long to be listed. */
function nameOrNull(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > NAMED_CHARACTERS_MAX) return null;
  return /[\p{Cc}\p{Cs}]/u.test(value) ? null : value;
}
