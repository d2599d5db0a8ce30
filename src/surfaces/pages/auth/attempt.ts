// Cookie of a sign-in at an identity provider: sealed under the server secret, valid for ten minutes, for one provider. Only the browser
// that was sent to the provider can come back (RFC 6749, section 10.12).
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { SignInChecks } from '../../../vendors/identity/port.ts';
import { cookieName, sentCookie, setCookie } from '../session-cookie.ts';

export interface Attempt {
  readonly providerId: string;
  readonly checks: SignInChecks;
  /** A path of this service. */
  readonly returnTo: string;
  /** Whose identity it is to become, by a form of that person's session; null: a sign-in. */
  readonly linkTo: string | null;
}

const ATTEMPT_MS = 10 * 60_000;

const LABEL = 'identity-attempt';
const NAME = 'qm_identity';
const TOKEN = /^[0-9A-Za-z_-]{60,3500}$/;

/** Set-Cookie of one that begins. */
export function attemptCookie(secrets: Secrets, baseUrl: string, attempt: Attempt, nowMs: number): string {
  const text = JSON.stringify({ ...attempt, untilMs: nowMs + ATTEMPT_MS });
  const token = secrets.encrypt(LABEL, attempt.providerId, text).toString('base64url');
  return setCookie(baseUrl, NAME, token, ATTEMPT_MS);
}

/** Set-Cookie of one that ends, however it does. */
export function endingAttemptCookie(baseUrl: string): string {
  return setCookie(baseUrl, NAME, '', 0);
}

/** Null: none was begun with this provider in this browser, or too long ago. */
export function sentAttempt(
  secrets: Secrets,
  baseUrl: string,
  cookies: string | undefined,
  providerId: string,
  nowMs: number,
): Attempt | null {
  const token = sentCookie(cookies, cookieName(baseUrl, NAME));
  if (token === null || !TOKEN.test(token)) return null;
  const attempt = openAttempt(secrets, providerId, token);
  return attempt !== null && attempt.untilMs > nowMs ? attempt : null;
}

function openAttempt(
  secrets: Secrets,
  providerId: string,
  token: string,
): (Attempt & { readonly untilMs: number }) | null {
  try {
    return JSON.parse(secrets.decrypt(LABEL, providerId, Buffer.from(token, 'base64url')));
  } catch {
    // Somebody made it up, or it is for another provider.
    return null;
  }
}
