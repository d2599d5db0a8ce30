// Secrets in the Authorization header: bearer tokens (RFC 6750, section 2.1).
import { type Credential, type CredentialHead, secretCredential } from './credential.ts';

const BEARER = /^Bearer +([^\s]+) *$/i;

export function bearer({ headers }: Pick<CredentialHead, 'headers'>): Credential | null {
  const secret = BEARER.exec(headers.authorization ?? '')?.[1];
  return secret === undefined ? null : secretCredential(secret);
}
