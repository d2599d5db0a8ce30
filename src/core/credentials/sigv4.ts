// Signatures of AWS clients as credentials. The access key id is the id of an API key; its secret access key is derived from the server secret
// and the stored hash of each secret of the key, so that it dies with that secret and the database alone does not yield it.
import { randomDigits } from '../../lib/base62.ts';
import { isSignedWith, type Signed, type SigV4Options, signedOf, signingKey } from '../../lib/sigv4.ts';
import type { Core } from '../context.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { awsBodyProof } from './aws-body.ts';
import type { BodyProof, Credential, CredentialHead } from './credential.ts';

const SECRET_ACCESS_KEY_LENGTH = 40;

export interface SigV4Credential extends Credential {
  readonly signed: Signed;
  bodyProof(): BodyProof | null;
}

type AwsPlace = Pick<Core, 'secrets' | 'baseUrl' | 'region'>;

/** 40 base62 characters. */
export function secretAccessKey(secrets: Secrets, secretHash: Buffer): string {
  const bytes = secrets.derive('aws-secret-access-key', 255, secretHash.toString('hex'));
  let at = 0;
  return randomDigits(SECRET_ACCESS_KEY_LENGTH, () => bytes[at++] as number);
}

/** What an AWS client is given for a secret of a key: the same at each call. */
export function awsCredentials({ secrets, baseUrl, region }: AwsPlace, keyId: string, secretHash: Buffer) {
  return {
    access_key_id: keyId,
    secret_access_key: secretAccessKey(secrets, secretHash),
    region: region === 'china' ? 'cn-north-1' : 'us-east-1',
    s3_endpoint: `${baseUrl}/s3`,
    sqs_endpoint: `${baseUrl}/sqs`,
  };
}

/** The credential of a signed request; null: it is not signed so. */
export function sigV4(head: CredentialHead, options: SigV4Options): SigV4Credential | null {
  const signed = signedOf(head, options);
  if (signed === null) return null;
  let secret = '';
  return {
    signed,
    bodyProof: () => awsBodyProof({ ...signed, key: signingKey(secret, signed.scope) }, head.headers),
    async find({ keys, secrets }) {
      const isRight = (each: Buffer) => {
        secret = secretAccessKey(secrets, each);
        return isSignedWith(signed, secret);
      };
      const known = await keys.secretsOf(signed.accessKeyId);
      if (known.length === 0) return 'unknown';
      // A secret may be newer than what is remembered.
      const right = known.find(isRight) ?? (await keys.secretsOf(signed.accessKeyId, true)).find(isRight);
      if (right === undefined) return 'signature';
      return signed.isInTime ? keys.findByHash(right) : 'clock';
    },
  };
}
