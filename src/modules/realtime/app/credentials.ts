// Credentials of an account's app. The app is an API key whose own secret nobody knows: app_key is the key's id. app_secret is derived from the
// server secret and the stored hash. So the app is listed, rotated, capped and revoked as any key, and checked again in each commit.
import { createHmac, hash } from 'node:crypto';
import type { NoPrincipal, Principal } from '../../../core/callers/principal.ts';
import { accountDigits } from '../../../core/credentials/aws-arns.ts';
import type { Credential } from '../../../core/credentials/credential.ts';
import { type Secrets, sameDigest } from '../../../core/secrets/secrets.ts';
import type { Services } from '../../../kit/services.ts';
import { randomDigits } from '../../../lib/base62.ts';
import { lruOf } from '../../../lib/lru.ts';
import { onceFor } from '../../../lib/once.ts';

/** What the key of an app may do. A key of other scopes is no app, though its id is known. */
export const APP_SCOPES = ['realtime:write'];
const SECRET_CHARACTERS = 40;
const REMEMBERED_MAX = 10_000;

type KeysOf = Pick<Services, 'keys' | 'secrets'>;

const remembered = onceFor((_: Secrets) => lruOf<string>(REMEMBERED_MAX));

/** 40 base62 characters. */
export function appSecretOf(secrets: Secrets, secretHash: Buffer): string {
  const known = remembered(secrets);
  const id = secretHash.toString('base64');
  const made = known.get(id) ?? deriveSecret(secrets, secretHash);
  known.set(id, made);
  return made;
}

function deriveSecret(secrets: Secrets, secretHash: Buffer): string {
  const bytes = secrets.derive('realtime-app-secret', 255, secretHash.toString('hex'));
  let at = 0;
  return randomDigits(SECRET_CHARACTERS, () => bytes[at++] as number);
}

/** A decimal number, as server libraries want it. */
export function appIdOf(accountId: string): string {
  return accountDigits(accountId);
}

/** The newest secret of the app with this key; null: there is no such app, or it has ended. */
export async function currentSecret(core: KeysOf, appKey: string, isAnew = false): Promise<string | null> {
  const { keys, secrets } = core;
  const [hashed] = await keys.secretsOf(appKey, isAnew);
  if (hashed === undefined) return null;
  if (typeof ofApp(await keys.findByHash(hashed)) !== 'string') return appSecretOf(secrets, hashed);
  // It may have been rotated a moment ago.
  return isAnew ? null : currentSecret(core, appKey, true);
}

/** Who shows no more than app_key, which everybody may know. */
export function appKeyCredential(appKey: string): Credential {
  return {
    async find({ keys }) {
      const [current] = await keys.secretsOf(appKey);
      return current === undefined ? 'unknown' : ofApp(await keys.findByHash(current));
    },
  };
}

/** Who proves to know app_secret: `isRight` looks whether the proof was made with it. One that was replaced is right in its grace. */
export function appSecretCredential(appKey: string, isRight: (appSecret: string) => boolean): Credential {
  return {
    async find({ keys, secrets }) {
      const known = await keys.secretsOf(appKey);
      if (known.length === 0) return 'unknown';
      const fits = (each: Buffer) => isRight(appSecretOf(secrets, each));
      // A secret may be newer than what is remembered.
      const right = known.find(fits) ?? (await keys.secretsOf(appKey, true)).find(fits);
      return right === undefined ? 'signature' : ofApp(await keys.findByHash(right));
    },
  };
}

function ofApp(found: Principal | NoPrincipal): Principal | NoPrincipal {
  if (typeof found === 'string') return found;
  return found.scopes?.join() === APP_SCOPES.join() ? found : 'unknown';
}

/** HMAC-SHA256 in hexadecimal, as all signatures of the protocol are. */
export function signedBy(appSecret: string, text: string): string {
  return createHmac('sha256', appSecret).update(text).digest('hex');
}

/** In constant time. */
export function isSignature(sent: string, due: string): boolean {
  return sameDigest(hash('sha256', sent, 'buffer'), hash('sha256', due, 'buffer'));
}
