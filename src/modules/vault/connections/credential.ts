// Credentials of connections: what callers send as `secret`, and what is kept of it, encrypted with account, name, kind, field and hosts. A row
// whose hosts were changed, or that was put beside another name, opens nothing.
import { createHash } from 'node:crypto';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { invalidField } from '../../../problems/problem.ts';
import { REFRESH_BEFORE_MS, SECRET_CHARACTERS_MAX, SECRET_CHARACTERS_MIN } from '../limits.ts';

export const kinds = ['bearer', 'basic', 'header', 'query', 'oauth2', 'client_credentials', 'sigv4'] as const;
export type Kind = (typeof kinds)[number];

/** An access token. */
export interface Token {
  readonly access: string;
  /** Null: nobody said. */
  readonly endsAtMs: number | null;
}

/** How a client shows itself at a token endpoint. */
export type ClientAuth = 'post' | 'basic' | 'none';

/** Where tokens come from. It stands in the seal: a provider that is changed later gets no token of the connection. */
export interface TokenSource {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly auth: ClientAuth;
  readonly scopes: readonly string[];
}

export type Credential =
  | { readonly kind: 'bearer' | 'header' | 'query'; readonly value: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly kind: 'sigv4';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken: string | null;
      readonly region: string;
      readonly service: string;
    }
  | { readonly kind: 'client_credentials'; readonly source: TokenSource; readonly token: Token | null }
  | {
      readonly kind: 'oauth2';
      readonly source: TokenSource;
      readonly token: Token;
      readonly refreshToken: string | null;
    };

/** What the seal stands for beside the secret. */
export interface Sealing {
  readonly accountId: string;
  readonly connection: string;
  readonly kind: string;
  readonly field: string;
  readonly hosts: readonly string[];
}

const LABEL = 'vault-connection';

export function sealCredential(secrets: Secrets, sealing: Sealing, credential: Credential): Buffer {
  return secrets.encrypt(LABEL, saltOf(sealing), JSON.stringify(credential));
}

/** Throws where the row is not the one that was sealed. */
export function openCredential(secrets: Secrets, sealing: Sealing, sealed: Buffer): Credential {
  return JSON.parse(secrets.decrypt(LABEL, saltOf(sealing), sealed)) as Credential;
}

/** Headers that the connection adds: some hold secrets too. */
export function sealHeaders(secrets: Secrets, sealing: Sealing, headers: Readonly<Record<string, string>>): Buffer {
  return secrets.encrypt(`${LABEL}-headers`, saltOf(sealing), JSON.stringify(headers));
}

export function openHeaders(secrets: Secrets, sealing: Sealing, sealed: Buffer | null): Record<string, string> {
  return sealed === null ? {} : JSON.parse(secrets.decrypt(`${LABEL}-headers`, saltOf(sealing), sealed));
}

function saltOf({ accountId, connection, kind, field, hosts }: Sealing): string {
  return JSON.stringify([accountId, connection, kind, field, hosts]);
}

/** Twelve characters by which people tell whether two secrets are the same: keyed, so nobody can try secrets against it. */
export function fingerprintOf(secrets: Secrets, accountId: string, credential: Credential): string {
  const key = secrets.derive('vault-fingerprint', 32, accountId);
  return createHash('sha256').update(key).update(lasting(credential)).digest('base64url').slice(0, 12);
}

/** Tokens change by themselves; the connection stays the same. */
function lasting(credential: Credential): string {
  switch (credential.kind) {
    case 'oauth2':
      return JSON.stringify([credential.source.tokenUrl, credential.source.clientId]);
    case 'client_credentials':
      return JSON.stringify(credential.source);
    default:
      return JSON.stringify(credential);
  }
}

/** Every text of a credential that must not come back. */
export function secretTexts(credential: Credential): string[] {
  switch (credential.kind) {
    case 'bearer':
    case 'header':
    case 'query':
      return [credential.value];
    case 'basic':
      return [credential.password, `${credential.username}:${credential.password}`];
    case 'sigv4':
      return [credential.secretAccessKey, ...(credential.sessionToken === null ? [] : [credential.sessionToken])];
    case 'client_credentials':
      return [credential.token?.access, credential.source.clientSecret].filter(isText);
    case 'oauth2':
      return [credential.token.access, credential.refreshToken, credential.source.clientSecret].filter(isText);
  }
}

/** Headers by whose name they hold a credential as well: the value of a version or an agent stands in answers for good reasons. */
const SECRET_HEADER = /auth|key|token|secret|passw|credential|cookie|signature|session/i;

/** Values of headers that the connection adds, and that must not come back: a scheme before them is none of the secret. */
export function secretHeaderTexts(headers: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value] : []));
  return values
    .map((value) => value.replace(/^[a-z]{1,16} +/i, ''))
    .filter(({ length }) => length >= SECRET_CHARACTERS_MIN);
}

function isText(value: string | null | undefined): value is string {
  return value !== null && value !== undefined;
}

/** `secret` as it was sent: a text, or the parts of a credential that has several. */
export type SentSecret = string | Readonly<Record<string, unknown>>;

const CONTROLS = /\p{Cc}/u;

/** Its token ends so long after the change that brings it: `beginsAt`. Throws VALIDATION_FAILED naming the part. */
export function readCredential(kind: Kind, secret: SentSecret): Credential {
  switch (kind) {
    case 'bearer':
    case 'header':
    case 'query':
      return { kind, value: secretText(secret, 'secret') };
    case 'basic': {
      const parts = partsOf(secret, 'basic', ['username', 'password']);
      const username = textPart(parts, 'username', 0);
      if (username.includes(':'))
        throw invalidField('secret.username', 'pattern', 'A user name of Basic holds no colon.');
      return { kind, username, password: textPart(parts, 'password') };
    }
    case 'sigv4': {
      const names = ['access_key_id', 'secret_access_key', 'session_token', 'region', 'service'];
      const parts = partsOf(secret, kind, names);
      return {
        kind,
        accessKeyId: textPart(parts, 'access_key_id', 1),
        secretAccessKey: textPart(parts, 'secret_access_key'),
        sessionToken: parts.session_token === undefined ? null : textPart(parts, 'session_token'),
        region: textPart(parts, 'region', 1),
        service: textPart(parts, 'service', 1),
      };
    }
    case 'client_credentials': {
      const parts = partsOf(secret, kind, ['token_url', 'client_id', 'client_secret', 'scopes', 'auth']);
      return { kind, source: sourceOf(parts, textPart(parts, 'client_secret')), token: null };
    }
    case 'oauth2': {
      const names = [
        'access_token',
        'refresh_token',
        'expires_in',
        'token_url',
        'client_id',
        'client_secret',
        'scopes',
        'auth',
      ];
      const parts = partsOf(secret, kind, names);
      const clientSecret = parts.client_secret === undefined ? null : textPart(parts, 'client_secret');
      return {
        kind,
        source: sourceOf(parts, clientSecret),
        token: { access: textPart(parts, 'access_token'), endsAtMs: endOf(parts.expires_in) },
        refreshToken: parts.refresh_token === undefined ? null : textPart(parts, 'refresh_token'),
      };
    }
  }
}

/** A credential that was read, from when it is stored. */
export function beginsAt(credential: Credential, nowMs: number): Credential {
  if (credential.kind !== 'oauth2' || credential.token.endsAtMs === null) return credential;
  return { ...credential, token: { ...credential.token, endsAtMs: nowMs + credential.token.endsAtMs } };
}

/** When its token ends, and from when on it is refreshed: a minute before, of one that lives for less than two when half of it is over. */
export function tokenTimes(credential: Credential, nowMs: number) {
  const endsAtMs = 'token' in credential ? (credential.token?.endsAtMs ?? null) : null;
  if (endsAtMs === null) return { token_ends_at: null, refresh_at: null };
  return { token_ends_at: endsAtMs, refresh_at: endsAtMs - Math.min(REFRESH_BEFORE_MS, (endsAtMs - nowMs) / 2) };
}

function sourceOf(parts: Readonly<Record<string, unknown>>, clientSecret: string | null): TokenSource {
  const { scopes = [], auth = clientSecret === null ? 'none' : 'post' } = parts;
  if (
    !Array.isArray(scopes) ||
    scopes.length > 100 ||
    !scopes.every((each) => typeof each === 'string' && /^[\x21-\x7e]{1,256}$/.test(each))
  )
    throw invalidField('secret.scopes', 'type', 'secret.scopes is a list of up to 100 scopes without spaces.');
  if (auth !== 'post' && auth !== 'basic' && auth !== 'none')
    throw invalidField('secret.auth', 'enum', 'secret.auth is post, basic or none.');
  const tokenUrl = textPart(parts, 'token_url', 1);
  if (URL.parse(tokenUrl) === null || !/^https?:\/\//.test(tokenUrl))
    throw invalidField('secret.token_url', 'format', 'secret.token_url is an https URL.');
  return { tokenUrl, clientId: textPart(parts, 'client_id', 1), clientSecret, auth, scopes };
}

function endOf(seconds: unknown): number | null {
  if (seconds === undefined || seconds === null) return null;
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= 10 * 365 * 86_400))
    throw invalidField('secret.expires_in', 'type', 'secret.expires_in is a number of seconds.');
  return seconds * 1_000;
}

function partsOf(secret: SentSecret, kind: Kind, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof secret === 'string')
    throw invalidField('secret', 'type', `The secret of ${kind} is an object with ${names.join(', ')}.`);
  const unknown = Object.keys(secret).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 64).replaceAll(/[^\w.-]/g, '?');
    throw invalidField(`secret.${shown}`, 'unknown_field', `The secret of ${kind} has ${names.join(', ')}.`);
  }
  return secret;
}

function textPart(
  parts: Readonly<Record<string, unknown>>,
  name: string,
  charactersMin = SECRET_CHARACTERS_MIN,
): string {
  if (parts[name] === undefined) throw invalidField(`secret.${name}`, 'required', `secret.${name} is missing.`);
  return secretText(parts[name], `secret.${name}`, charactersMin);
}

function secretText(value: unknown, param: string, charactersMin = SECRET_CHARACTERS_MIN): string {
  if (typeof value !== 'string') throw invalidField(param, 'type', `${param} is a text.`);
  if (value.length < charactersMin || value.length > SECRET_CHARACTERS_MAX) {
    const most = SECRET_CHARACTERS_MAX.toLocaleString('en');
    throw invalidField(param, 'length', `${param} has ${charactersMin} to ${most} characters.`);
  }
  if (CONTROLS.test(value) || !value.isWellFormed() || value !== value.trim())
    throw invalidField(param, 'pattern', `${param} holds control characters, or spaces at an end.`);
  return value;
}
