// Signatures made with an app's secret: subscriptions, sign-ins and server calls (Pusher Channels protocol 7, "authorization signatures" and
// "HTTP API, authentication").
import { hash } from 'node:crypto';
import { isSignature, signedBy } from '../app/credentials.ts';

/** An app as those prove it who hold its secret. */
export interface SignedApp {
  readonly key: string;
  readonly secret: string;
}

/** How old, or how far ahead, a signed call may be. */
const CLOCK_SECONDS_MAX = 600;
const AUTH_CHARACTERS_MAX = 256;

/** What a socket shows to subscribe: `auth` of an authorization endpoint. `channelData`: of a presence channel. */
export function channelAuth(
  { key, secret }: SignedApp,
  socketId: string,
  channel: string,
  channelData?: string,
): string {
  const signed = channelData === undefined ? `${socketId}:${channel}` : `${socketId}:${channel}:${channelData}`;
  return `${key}:${signedBy(secret, signed)}`;
}

/** No channel is named `:user:`. */
export function userAuth({ key, secret }: SignedApp, socketId: string, userData: string): string {
  return `${key}:${signedBy(secret, `${socketId}::user::${userData}`)}`;
}

/** Whether what was shown is what is due, in a time that tells nothing of either. */
export function isSame(due: string, shown: unknown): boolean {
  return typeof shown === 'string' && shown.length <= AUTH_CHARACTERS_MAX && isSignature(shown, due);
}

export interface SignedHead {
  readonly method: string;
  /** As it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Whether a server's call was signed with the secret. What it says of the body is told by `isBodyOf`. */
export function isSignedCall(secret: string, { method, path, query }: SignedHead): boolean {
  if (query.get('auth_version') !== '1.0') return false;
  const pairs = [...query].map(([name, value]) => [name.toLowerCase(), value] as const);
  if (new Set(pairs.map(([name]) => name)).size !== pairs.length) return false;
  const signed = pairs.filter(([name]) => name !== 'auth_signature').sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `${method}\n${path}\n${signed.map(([name, value]) => `${name}=${value}`).join('&')}`;
  return isSame(signedBy(secret, text), query.get('auth_signature'));
}

export function isInTime(query: URLSearchParams, nowSeconds = Date.now() / 1_000): boolean {
  const timestamp = query.get('auth_timestamp') ?? '';
  return /^\d{1,12}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= CLOCK_SECONDS_MAX;
}

export function isBodyOf(query: URLSearchParams, body: Buffer): boolean {
  return body.length === 0 || query.get('body_md5')?.toLowerCase() === hash('md5', body);
}
