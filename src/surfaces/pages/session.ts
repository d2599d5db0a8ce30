// The console's session: a cookie that holds the key it was opened with, sealed under the server secret. The server keeps nothing:
// every request checks the key anew, so a session ends with its key, and at the latest when its time is over.
import type { Secrets } from '../../core/secrets/secrets.ts';
import { HOUR_MS } from '../../lib/time.ts';

export const SESSION_MS = 12 * HOUR_MS;

const COOKIE = 'qm_console';
const LABEL = 'console-session';
const TOKEN = /^[0-9A-Za-z_-]{60,1024}$/;
const CONTENT = /^(\d{1,15}) (\S+)$/;

/** The cookie's value for a key's secret: nobody without the server secret can read or make one. */
export function sealSession(secrets: Secrets, secret: string, expiresMs: number): string {
  return secrets.encrypt(LABEL, '', `${expiresMs} ${secret}`).toString('base64url');
}

/** The secret in a cookie's value; null when the value is not one of ours or its time is over. */
export function openSession(secrets: Secrets, token: string, nowMs: number): string | null {
  const [, expiresMs, secret] = CONTENT.exec(unseal(secrets, token)) ?? [];
  return secret !== undefined && Number(expiresMs) > nowMs ? secret : null;
}

function unseal(secrets: Secrets, token: string): string {
  const sealed = Buffer.from(token, 'base64url');
  // One value has one spelling: what the decoder passes over is not passed over here.
  if (!TOKEN.test(token) || sealed.toString('base64url') !== token) return '';
  try {
    return secrets.decrypt(LABEL, '', sealed);
  } catch {
    // What somebody made up or changed, or sealed under an earlier server secret, is no session.
    return '';
  }
}

/** The session's value in a Cookie header; null when there is none. */
export function sentSession(cookies: string | undefined): string | null {
  for (const pair of (cookies ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === COOKIE && value !== undefined && value !== '') return value;
  }
  return null;
}

/** Set-Cookie that opens a session. */
export function openingCookie(baseUrl: string, token: string): string {
  return cookie(baseUrl, token, SESSION_MS / 1_000);
}

/** Set-Cookie that ends the session in the browser. */
export function endingCookie(baseUrl: string): string {
  return cookie(baseUrl, '', 0);
}

function cookie(baseUrl: string, value: string, maxAgeSeconds: number): string {
  const { protocol, pathname } = new URL(baseUrl);
  const path = `${pathname.replace(/\/$/, '')}/console`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
