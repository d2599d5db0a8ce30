// What tools ask of any bucket where this service has nothing to set: that there is none, or what holds for every bucket.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { findObject } from '../../../objects/read.ts';
import { readBucket } from './buckets.ts';
import {
  bucketOf,
  emptyAnswer,
  objectOf,
  ownerOf,
  type S3Call,
  type S3Operation,
  shortBody,
  xmlAnswer,
} from './call.ts';
import { isOwnersAlone } from './wire/bodies.ts';
import { refuseUnserved } from './wire/object-headers.ts';
import { noAcl, refusal, type S3Refusal } from './wire/refusals.ts';
import type { XmlFields } from './wire/xml.ts';

/** The bucket has no such setting. */
export function noneOf(name: S3Refusal, what: string): S3Operation {
  return async (call) => {
    await readBucket(call);
    throw refusal(name, `The bucket ${bucketOf(call)} has no ${what}.`);
  };
}

/** What holds for every bucket. */
export function usual(root: string, fields: XmlFields): S3Operation {
  return async (call) => {
    await readBucket(call);
    return xmlAnswer(call, root, fields);
  };
}

export async function getBucketAcl(call: S3Call): Promise<RawAnswer> {
  await readBucket(call);
  return aclAnswer(call);
}

export async function getObjectAcl(call: S3Call): Promise<RawAnswer> {
  await readObject(call);
  return aclAnswer(call);
}

/** Who sets what holds anyway is answered. Throws AccessControlListNotSupported for all else. */
export async function putBucketAcl(call: S3Call): Promise<RawAnswer> {
  await requirePrivate(call);
  await readBucket(call);
  return emptyAnswer(call, 200);
}

export async function putObjectAcl(call: S3Call): Promise<RawAnswer> {
  await requirePrivate(call);
  await readObject(call);
  return emptyAnswer(call, 200);
}

async function requirePrivate(call: S3Call): Promise<void> {
  refuseUnserved(call.headers);
  const body = await shortBody(call);
  if (body.length === 0 && call.headers['x-amz-acl'] === undefined) throw noAcl();
  if (body.length > 0 && !isOwnersAlone(body, call.accountId)) throw noAcl();
}

async function readObject(call: S3Call): Promise<void> {
  await call.request.perform(call.capability, async (ctx) => {
    await findObject(ctx, objectOf(call), { mustBePaid: false });
    return { data: null };
  });
}

const CANONICAL_USER = 'Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"';

/** The account may do all, and nobody else anything. */
function aclAnswer(call: S3Call): RawAnswer {
  const owner = ownerOf(call);
  return xmlAnswer(call, 'AccessControlPolicy', {
    Owner: owner,
    AccessControlList: { Grant: { [CANONICAL_USER]: owner, Permission: 'FULL_CONTROL' } },
  });
}
