// The session cookie: sent to this host only, unreadable by scripts, and not sent with requests of other sites. Over https its name makes
// browsers refuse one that another host or plain http has set (RFC 6265bis, __Host-).
import { parseCookie, stringifySetCookie } from 'cookie';
import { LIFE_MS } from '../../people/sessions/sessions.ts';

const NAME = 'qm_session';

/** The value of a cookie in a Cookie header; null when there is none, or an empty one. */
export function sentCookie(cookies: string | undefined, name: string): string | null {
  return parseCookie(cookies ?? '')[name] || null;
}

/** The session's token in a Cookie header; null when there is none. */
export function sentToken(baseUrl: string, cookies: string | undefined): string | null {
  return sentCookie(cookies, cookieName(baseUrl, NAME));
}

/** Set-Cookie that opens a session. */
export function openingCookie(baseUrl: string, token: string): string {
  return setCookie(baseUrl, NAME, token, LIFE_MS);
}

/** Set-Cookie that ends the session in the browser. */
export function endingCookie(baseUrl: string): string {
  return setCookie(baseUrl, NAME, '', 0);
}

/** Set-Cookie for all pages of the service; `lifeMs` 0 removes it. */
export function setCookie(baseUrl: string, name: string, value: string, lifeMs: number): string {
  return stringifySetCookie({
    name: cookieName(baseUrl, name),
    value,
    maxAge: lifeMs / 1_000,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(baseUrl),
  });
}

export function cookieName(baseUrl: string, name: string): string {
  return isSecure(baseUrl) ? `__Host-${name}` : name;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
