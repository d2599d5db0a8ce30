// Tokens with which a browser listens to given channels. An EventSource sends no headers, so the token stands in the URL. Signed with
// app_secret; it can only listen, and it expires.
import type { Credential } from '../../../core/credentials/credential.ts';
import { appSecretCredential, isSignature, signedBy } from '../app/credentials.ts';

export interface StreamGrant {
  readonly appKey: string;
  readonly channels: readonly string[];
  readonly expiresMs: number;
}

/** Of 100 channels with the longest names. */
export const TOKEN_CHARACTERS_MAX = 30_000;
const PREFIX = 'rts_';

/** `rts_` + base64url of the grant + `.` + signature. */
export function streamToken(grant: StreamGrant, appSecret: string): string {
  const body = Buffer.from(JSON.stringify([grant.appKey, grant.expiresMs, grant.channels])).toString('base64url');
  return `${PREFIX}${body}.${signedBy(appSecret, PREFIX + body)}`;
}

/** What a token says, and who shows it; null: it is none. Whether it is right, and lives, is seen by the credential. */
export function readToken(token: string, now: () => number): { grant: StreamGrant; credential: Credential } | null {
  if (token.length > TOKEN_CHARACTERS_MAX || !token.startsWith(PREFIX)) return null;
  const dot = token.indexOf('.');
  const grant = dot === -1 ? null : grantOf(token.slice(PREFIX.length, dot));
  if (grant === null) return null;
  const { find } = appSecretCredential(grant.appKey, (secret) =>
    isSignature(token.slice(dot + 1), signedBy(secret, token.slice(0, dot))),
  );
  const credential: Credential = {
    async find(core) {
      const found = await find(core);
      return typeof found !== 'string' && grant.expiresMs <= now() ? 'expired' : found;
    },
  };
  return { grant, credential };
}

function grantOf(body: string): StreamGrant | null {
  try {
    const [appKey, expiresMs, channels] = JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[];
    if (typeof appKey !== 'string' || typeof expiresMs !== 'number' || !Array.isArray(channels)) return null;
    return { appKey, expiresMs, channels: channels.filter((channel) => typeof channel === 'string') };
  } catch {
    return null;
  }
}
