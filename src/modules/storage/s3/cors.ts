// CORS of S3 operations: preflights, which come without a signature, and the headers that a page needs to read an answer. Presigned addresses and
// signed requests name their key, so the rules are those of its account's bucket. Where no key is named, a bucket of any account may allow it: that
// opens nothing, as every call needs a signature, and its answer has the headers of the very bucket.

import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { signedOf } from '../../../lib/sigv4.ts';
import type { PageRequest } from '../buckets/cors.ts';
import { corsOfBucket, corsOfName } from '../buckets/cors-store.ts';
import type { StorageState } from '../state.ts';
import { askedBy, pageRequestOf } from './wire/cors.ts';
import { addressOf } from './wire/operation.ts';
import { refusal } from './wire/refusals.ts';

type Headers = Readonly<Record<string, string>>;

/** A cache must not give a page what it keeps for another one, or for none. */
const VARIES: Headers = { vary: 'Origin' };

/** What every answer to the request carries. Throws RATE_LIMITED. */
export async function headersOfAnswer(head: RawHead, state: StorageState): Promise<Headers> {
  if (head.method === 'OPTIONS') return {};
  const page = pageRequestOf(head.method, head.headers);
  const bucket = page === null ? null : bucketIn(head);
  if (page === null || bucket === null) return VARIES;
  return (await corsFor(state, head, bucket, page)) ?? VARIES;
}

/** Of what is known to be a call of this account. */
export async function headersFor(head: RawHead, { core }: StorageState, accountId: string): Promise<Headers> {
  const page = pageRequestOf(head.method, head.headers);
  const bucket = page === null ? null : bucketIn(head);
  if (page === null || bucket === null) return VARIES;
  return (await corsOfBucket(core.db, { accountId, bucket }, page)) ?? VARIES;
}

/** Throws BadRequest, AccessForbidden, RATE_LIMITED. */
export async function answerPreflight(head: RawHead, state: StorageState): Promise<RawAnswer> {
  const page = askedBy(head.headers);
  const bucket = bucketIn(head);
  const headers = bucket === null ? null : await corsFor(state, head, bucket, page);
  if (headers !== null) return { status: 200, headers: { ...headers, 'x-amz-request-id': head.requestId }, body: '' };
  throw refusal(
    'AccessForbidden',
    'CORSResponse: This CORS request is not allowed: no rule of the bucket has its origin, method and headers. ' +
      'Set `cors` by storage.bucket.settings, or PutBucketCors.',
  );
}

async function corsFor(
  { core, crossOrigin }: StorageState,
  head: RawHead,
  bucket: string,
  page: PageRequest,
): Promise<Headers | null> {
  const keyId = signedOf(head, { services: ['s3'] })?.accessKeyId;
  if (keyId === undefined) {
    crossOrigin.count(head.remoteAddress);
    return corsOfName(core.db, bucket, page);
  }
  const [hash] = await core.keys.secretsOf(keyId);
  const found = hash === undefined ? 'unknown' : await core.keys.findByHash(hash);
  return typeof found === 'string' ? null : corsOfBucket(core.db, { accountId: found.accountId, bucket }, page);
}

/** Null: it names none. */
function bucketIn({ routed }: RawHead): string | null {
  try {
    return addressOf(routed).bucket;
  } catch {
    // What is no address is refused for that, to whoever sent it.
    return null;
  }
}
