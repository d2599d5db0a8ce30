// What goes out to a target: the request of the caller without what speaks for the caller, with what the connection adds.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { secretIn } from '../../../core/keys/api-key.ts';
import { signatureHeaders } from '../../../lib/sigv4.ts';
import type { Credential } from '../connections/credential.ts';
import type { RequestTarget } from '../rule/target.ts';

/** A request as its caller sent it. */
export interface Sent {
  readonly method: string;
  readonly target: RequestTarget;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As RuledCall has it. */
  readonly isMessage?: boolean;
  /** Asked for when the request goes out: who must decide about it may have read it by then. */
  body(): SentBody;
}

export interface SentBody {
  readonly content: Buffer | Readable | null;
  /** Length of a stream, where it is known. */
  readonly bytes?: number | undefined;
}

export interface Outgoing {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** What one connection speaks for, framing, and what names another host, method or path than the rule has seen. */
const DROPPED = new Set(
  [
    'authorization proxy-authorization cookie cookie2 host forwarded via x-real-ip',
    'connection keep-alive te trailer transfer-encoding upgrade expect proxy-connection http2-settings content-length',
    'accept-encoding x-original-url x-rewrite-url x-original-host x-host x-http-method x-http-method-override x-method-override x-method',
    'x-forwarded x-original-uri x-original-path x-override-url x-http-path-override x-envoy-original-path x-envoy-original-host x-proxy-url',
  ].flatMap((names) => names.split(' ')),
);
const DROPPED_PREFIXES = ['x-forwarded-', 'x-qm-'];

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
/** As the guarded client sends them (vendors/http/wire-headers.ts). */
const HEADER_VALUE = /^[ -~]{0,4096}$/;

/** Whether a header of the caller's goes on to the target. `field`: where the credential stands, if it is a header. */
export function isPassedOn(name: string, value: string, field: string): boolean {
  // Targets behind CGI and WSGI read both signs as one.
  const read = name.replaceAll('_', '-');
  const isOurs = DROPPED.has(read) || DROPPED_PREFIXES.some((prefix) => read.startsWith(prefix));
  // The key of this service is nobody else's business, wherever a client puts it.
  return !isOurs && read !== field.toLowerCase().replaceAll('_', '-') && secretIn(value) === null;
}

/** Names in lower case, values as they are sent; null: one cannot be sent. */
export function readHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> | { readonly wrong: string } {
  const read: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(lower) || !HEADER_VALUE.test(value) || lower in read) return { wrong: name };
    read[lower] = value.trim();
  }
  return read;
}

/** `added`: headers of the connection. `encodings`: that the answer may have. */
export function outgoingOf(
  sent: Sent,
  body: SentBody['content'],
  credential: Credential,
  {
    field,
    added,
    encodings,
  }: { readonly field: string; readonly added: Readonly<Record<string, string>>; readonly encodings: string },
): Outgoing {
  const { target } = sent;
  const passed = Object.entries(sent.headers).filter(([name, value]) => isPassedOn(name, value, field));
  const headers: Record<string, string> = { ...Object.fromEntries(passed), 'accept-encoding': encodings };
  for (const [name, value] of Object.entries(added)) headers[name.toLowerCase()] = value;
  const port = target.port === (target.secure ? 443 : 80) ? '' : `:${target.port}`;
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  const query =
    credential.kind === 'query' ? withParameter(target.query, field, credential.value) : withoutKeys(target.query);
  const path = `${target.sentPath}${query}`;
  const url = `${target.secure ? 'https' : 'http'}://${host}${port}${path}`;
  Object.assign(
    headers,
    credentialHeaders(credential, field, { method: sent.method, path, host: `${host}${port}`, body, headers }),
  );
  return { url, headers };
}

interface Signing {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly body: Buffer | Readable | null;
  readonly headers: Readonly<Record<string, string>>;
}

function credentialHeaders(credential: Credential, field: string, signing: Signing): Record<string, string> {
  switch (credential.kind) {
    case 'bearer':
      return { authorization: `Bearer ${credential.value}` };
    case 'basic':
      return {
        authorization: `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`,
      };
    case 'header':
      return { [field.toLowerCase()]: credential.value };
    case 'query':
      return {};
    case 'client_credentials':
    case 'oauth2':
      return { authorization: `Bearer ${credential.token?.access ?? ''}` };
    case 'sigv4':
      return sigV4Headers(credential, signing);
  }
}

function sigV4Headers(credential: Credential & { kind: 'sigv4' }, { method, path, host, body, headers }: Signing) {
  const { sessionToken } = credential;
  const token: Record<string, string> = sessionToken === null ? {} : { 'x-amz-security-token': sessionToken };
  // What the caller's own signature said is not repeated; the rest of x-amz-* must be signed.
  const amz = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-') && !RESIGNED.has(name));
  const signed = { ...Object.fromEntries(amz), ...token, host };
  const payload = body === null || Buffer.isBuffer(body) ? sha256(body ?? Buffer.alloc(0)) : 'UNSIGNED-PAYLOAD';
  return { ...token, ...signatureHeaders({ method, url: path, headers: signed }, credential, payload, Date.now()) };
}

const RESIGNED = new Set(['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token']);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The parameter stands once, with this value. */
function withParameter(query: string, name: string, value: string): string {
  const own = new URLSearchParams([[name, value]]).toString();
  const others = pairsOf(withoutKeys(query)).filter((pair) => nameOf(pair) !== name);
  return `?${[...others, own].join('&')}`;
}

/** Without what holds a key of this service. */
function withoutKeys(query: string): string {
  const kept = pairsOf(query).filter((pair) => secretIn(decodeText(pair.slice(pair.indexOf('=') + 1))) === null);
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function pairsOf(query: string): string[] {
  return query
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '');
}

function nameOf(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  return decodeText(name);
}

function decodeText(text: string): string {
  const [pair] = new URLSearchParams(`x=${text.replaceAll('&', '%26')}`);
  return pair?.[1] ?? '';
}
