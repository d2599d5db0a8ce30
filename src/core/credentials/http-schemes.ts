// Secrets in HTTP headers: bearer tokens (RFC 6750, section 2.1), and Basic (RFC 7617) for clients that support nothing else.
import { type Credential, type CredentialHead, secretCredential } from './credential.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;
/** No credentials of ours are longer. */
const BASIC_CHARACTERS_MAX = 1_024;

/** The secret of a bearer header; null: there is none. */
function bearerSecret(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null;
}

export function bearer({ headers }: Pick<CredentialHead, 'headers'>): Credential | null {
  const secret = bearerSecret(headers.authorization);
  return secret === null ? null : secretCredential(secret);
}

/** The header in which some protocols send a key. */
export function apiKeyHeader({ headers }: Pick<CredentialHead, 'headers'>): Credential | null {
  const secret = headers['x-api-key'];
  return typeof secret === 'string' && secret !== '' ? secretCredential(secret) : null;
}

/** `part`: which of `user:password` holds the key; the other one says nothing. */
export function basic(part: 'user' | 'password', { headers }: Pick<CredentialHead, 'headers'>): Credential | null {
  const { authorization = '' } = headers;
  const encoded = authorization.length > BASIC_CHARACTERS_MAX ? undefined : BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const secret = part === 'user' ? text.slice(0, colon === -1 ? undefined : colon) : text.slice(colon + 1);
  return secret === '' || (part === 'password' && colon === -1) ? null : secretCredential(secret);
}
