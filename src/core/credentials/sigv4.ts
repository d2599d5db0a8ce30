// AWS SigV4 signatures as credentials. The access key ID is the ID of an API key. Each secret access key is derived from the server secret and
// the stored hash of one secret of that key. So it is revoked with that secret, and a copy of the database does not reveal it.
import { createHash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { randomDigits } from '../../lib/base62.ts';
import {
  isSignedBy,
  type Signed,
  type SigV4Options,
  signedOf,
  signingKey,
  textSignature,
  version2Signature,
} from '../../lib/sigv4.ts';
import type { Core } from '../core.ts';
import { type Secrets, sameDigest } from '../secrets/secrets.ts';
import { awsRegion } from './aws-arns.ts';
import { awsBodyProof } from './aws-body.ts';
import type { BodyCredential, BodyProof, Credential, CredentialHead } from './credential.ts';

const SECRET_ACCESS_KEY_LENGTH = 40;

export interface SigV4Credential extends Credential {
  readonly signed: Signed;
  bodyProof(): BodyProof | null;
}

type AwsScope = Pick<Core, 'secrets' | 'baseUrl' | 'region'>;

/** 40 base62 characters. */
export function secretAccessKey(secrets: Secrets, secretHash: Buffer): string {
  const bytes = secrets.derive('aws-secret-access-key', 255, secretHash.toString('hex'));
  let at = 0;
  return randomDigits(SECRET_ACCESS_KEY_LENGTH, () => bytes[at++] as number);
}

/** What an AWS client is given for a secret of a key: the same at each call. */
export function awsCredentials({ secrets, baseUrl, region }: AwsScope, keyId: string, secretHash: Buffer) {
  return {
    access_key_id: keyId,
    secret_access_key: secretAccessKey(secrets, secretHash),
    region: awsRegion({ region }),
    s3_endpoint: `${baseUrl}/s3`,
    sqs_endpoint: `${baseUrl}/sqs`,
  };
}

/** Keys that signatures were right with: to make one takes a dozen hashes, a third of a call. */
const rememberedKeys = new WeakMap<Secrets, LRUCache<string, KeyObject>>();
const REMEMBERED_MAX = 10_000;
const SCOPE_CHARACTERS_MAX = 64;

function signingKeyOf(secrets: Secrets, secretHash: Buffer, scope: string): KeyObject {
  const remembered = rememberedKeys.get(secrets)?.get(`${secretHash.toString('base64')} ${scope}`);
  return remembered ?? signingKey(secretAccessKey(secrets, secretHash), scope);
}

function remember(secrets: Secrets, secretHash: Buffer, scope: string, key: KeyObject): void {
  if (scope.length > SCOPE_CHARACTERS_MAX) return;
  const keys = rememberedKeys.get(secrets) ?? new LRUCache({ max: REMEMBERED_MAX });
  rememberedKeys.set(secrets, keys);
  keys.set(`${secretHash.toString('base64')} ${scope}`, key);
}

/** The credential of a signed request; null: it is not signed so. */
export function sigV4(head: CredentialHead, options: SigV4Options): SigV4Credential | null {
  const signed = signedOf(head, options);
  if (signed === null) return null;
  let key: KeyObject | undefined;
  return {
    signed,
    bodyProof() {
      if (key === undefined) throw new TypeError('a body is proven with the key that find() found');
      return awsBodyProof({ ...signed, key }, head.headers);
    },
    async find({ keys, secrets }) {
      const right = await secretThat(keys, signed.accessKeyId, (each) => {
        key = signingKeyOf(secrets, each, signed.scope);
        if (!isSignedBy(signed, key)) return false;
        remember(secrets, each, signed.scope, key);
        return true;
      });
      if (typeof right === 'string') return right;
      return signed.isInTime ? keys.findByHash(right) : 'clock';
    },
  };
}

/** The hash of the key's secret that signed, or why there is none. */
async function secretThat(
  keys: Core['keys'],
  keyId: string,
  isRight: (secretHash: Buffer) => boolean,
): Promise<Buffer | 'unknown' | 'signature'> {
  const known = await keys.secretsOf(keyId);
  if (known.length === 0) return 'unknown';
  // A secret may be newer than what is remembered.
  return known.find(isRight) ?? (await keys.secretsOf(keyId, true)).find(isRight) ?? 'signature';
}

/** A text that is signed by itself, such as the policy of a form. */
export interface SignedText {
  readonly accessKeyId: string;
  readonly text: string;
  readonly signature: string;
  /** Null: signed by version 2, as boto3 signs forms unless told otherwise. */
  readonly scope: string | null;
}

/** When it ends stands in the text. */
export function signedTextCredential({ accessKeyId, text, signature, scope }: SignedText): Credential {
  return {
    async find({ keys, secrets }) {
      const right = await secretThat(keys, accessKeyId, (each) => {
        if (scope === null) return isEqual(version2Signature(text, secretAccessKey(secrets, each)), signature);
        const key = signingKeyOf(secrets, each, scope);
        if (!isEqual(textSignature(text, key), signature)) return false;
        remember(secrets, each, scope, key);
        return true;
      });
      return typeof right === 'string' ? right : keys.findByHash(right);
    },
  };
}

function isEqual(due: string, sent: string): boolean {
  return sameDigest(Buffer.from(due), Buffer.from(sent));
}

/** The credential of a request that signs the hash of its body without telling it; null: it is not signed so. */
export function sigV4OfBody(head: CredentialHead, options: SigV4Options): BodyCredential | null {
  const signed = signedOf(head, options);
  if (signed === null) return null;
  const sha256 = createHash('sha256');
  return {
    async identifyKey({ keys }) {
      const [hash] = await keys.secretsOf(signed.accessKeyId);
      if (hash === undefined) return 'unknown';
      if (signed.canonicalRequest === null) return 'signature';
      if (!signed.isInTime) return 'clock';
      const found = await keys.findByHash(hash);
      return { keyId: signed.accessKeyId, principal: typeof found === 'string' ? null : found };
    },
    update: (block) => void sha256.update(block),
    complete: () => sigV4(head, { ...options, bodySha256: sha256.digest('hex') }) as SigV4Credential,
  };
}
