// Requests of tokens (RFC 6749, sections 4.1.3, 4.4 and 6). Answers are read leniently, as servers differ: `error` stands in an answer of 200
// at some, and token_type is missing at others. An ID token is passed on unread.
import type { OutboundClient } from '../http/port.ts';
import { guardedFetch } from '../identity/guarded-fetch.ts';
import { IdentityError } from '../identity/port.ts';

/** A client at a token endpoint, and how it shows itself there. */
export interface TokenClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly auth: 'post' | 'basic' | 'none';
}

export type Grant =
  | {
      readonly type: 'authorization_code';
      readonly code: string;
      readonly redirectUri: string;
      readonly codeVerifier: string;
    }
  | { readonly type: 'refresh_token'; readonly refreshToken: string }
  | { readonly type: 'client_credentials'; readonly scopes: readonly string[] };

export type TokenAnswer =
  | {
      readonly kind: 'token';
      readonly access: string;
      /** Null: it gave none, or none anew. */
      readonly refresh: string | null;
      /** Null: it did not say. */
      readonly expiresInMs: number | null;
      readonly idToken: string | null;
    }
  /** It said no, for good; `error`: one of those that are known to mean that, so it holds nothing that was sent. */
  | { readonly kind: 'refused'; readonly error: string }
  /** No answer, or none that means anything: a later request may succeed. One sentence, without what was sent. */
  | { readonly kind: 'failed'; readonly message: string };

const TOKEN = /^[!-~]{1,16384}$/;
const SECONDS_MAX = 10 * 365 * 86_400;
/**
 * Errors that no later request mends: RFC 6749, section 5.2, OpenID Connect Core, section 3.1.2.6, and the names that some servers have for
 * the same. Of any other nobody knows.
 */
const FINAL: ReadonlySet<unknown> = new Set(
  [
    'invalid_grant invalid_client unauthorized_client unsupported_grant_type invalid_scope access_denied',
    'login_required consent_required interaction_required account_selection_required',
    'bad_refresh_token invalid_refresh_token incorrect_client_credentials token_revoked',
    'bad_verification_code redirect_uri_mismatch',
  ].flatMap((names) => names.split(' ')),
);
/** Too many requests say nothing about the grant. */
const TOO_MANY = 429;

/** Never rejects, asks once, and takes at most 10 s. */
export async function requestToken(
  outbound: Pick<OutboundClient, 'send'>,
  client: TokenClient,
  grant: Grant,
): Promise<TokenAnswer> {
  const { body, headers } = formOf(client, grant);
  const host = URL.parse(client.tokenUrl)?.host ?? 'the token endpoint';
  try {
    const reply = await guardedFetch(outbound, [])(client.tokenUrl, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: undefined,
    } as Parameters<ReturnType<typeof guardedFetch>>[1]);
    return readAnswer(reply.status, await reply.text(), host);
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    return { kind: 'failed', message: `${host} could not be asked.` };
  }
}

function formOf({ clientId, clientSecret, auth }: TokenClient, grant: Grant) {
  const form = new URLSearchParams(fieldsOf(grant));
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (auth === 'basic') {
    const pair = [clientId, clientSecret ?? ''].map(formEncoded).join(':');
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  } else {
    form.set('client_id', clientId);
    if (auth === 'post') form.set('client_secret', clientSecret ?? '');
  }
  return { body: form.toString(), headers };
}

function fieldsOf(grant: Grant): Record<string, string> {
  switch (grant.type) {
    case 'authorization_code':
      return {
        grant_type: grant.type,
        code: grant.code,
        redirect_uri: grant.redirectUri,
        code_verifier: grant.codeVerifier,
      };
    case 'refresh_token':
      return { grant_type: grant.type, refresh_token: grant.refreshToken };
    case 'client_credentials':
      return {
        grant_type: grant.type,
        ...(grant.scopes.length > 0 && { scope: grant.scopes.join(' ') }),
      };
  }
}

/** RFC 6749, section 2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

export function readAnswer(status: number, text: string, host: string): TokenAnswer {
  const fields = readObject(text);
  if (status === TOO_MANY) return { kind: 'failed', message: `${host} takes no more requests for now.` };
  if (FINAL.has(fields?.error)) return { kind: 'refused', error: String(fields?.error) };
  if (fields === null || status < 200 || status > 299 || fields.access_token === undefined)
    return { kind: 'failed', message: `${host} answered ${status} without a token.` };
  const { access_token: access, refresh_token: refresh, expires_in: seconds, id_token: idToken } = fields;
  if (typeof access !== 'string' || !TOKEN.test(access) || !isOther(refresh, TOKEN))
    return { kind: 'failed', message: `${host} answered no token that can be used.` };
  return {
    kind: 'token',
    access,
    refresh: typeof refresh === 'string' && refresh !== '' ? refresh : null,
    expiresInMs: lifeOf(seconds),
    idToken: typeof idToken === 'string' ? idToken : null,
  };
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const read = JSON.parse(text);
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : null;
  } catch {
    return null;
  }
}

/** Absent, or a text of the pattern. */
function isOther(value: unknown, pattern: RegExp): boolean {
  return value === undefined || value === null || value === '' || (typeof value === 'string' && pattern.test(value));
}

/** Some write the number as a text. */
function lifeOf(seconds: unknown): number | null {
  const number = typeof seconds === 'string' && seconds !== '' ? Number(seconds) : seconds;
  if (typeof number !== 'number' || !(number > 0)) return null;
  return Math.min(Math.floor(number), SECONDS_MAX) * 1_000;
}
