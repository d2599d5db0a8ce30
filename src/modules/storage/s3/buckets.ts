// S3 bucket operations. Lifecycle and notifications are settings of storage.bucket.settings, each changed by itself.
import { awsRegion, queueArn, queueNameInArn } from '../../../core/credentials/aws-arns.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import type { Transaction } from '../../../db/database.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { requireRow } from '../../../kit/resource.ts';
import { bucketMissing } from '../../../objects/object.ts';
import { addBucket, type BucketRow, bucketLimits, buckets, bucketTable, saveNotify } from '../buckets/buckets.ts';
import { saveCors } from '../buckets/cors-store.ts';
import { setRules } from '../buckets/expiry.ts';
import { appliedRules, lifecycleShown } from '../buckets/lifecycle.ts';
import { QUEUE_NAME_CHARACTERS_MIN, requireBucketName } from '../schemas.ts';
import { bucketOf, emptyAnswer, ownerOf, type S3Call, shortBody, xmlAnswer } from './call.ts';
import { instantOf, nameIn, tokenOf } from './listing.ts';
import { readCreateBucket } from './wire/bodies.ts';
import { corsFields, readCors } from './wire/cors.ts';
import { refuseUnserved } from './wire/object-headers.ts';
import { refusal } from './wire/refusals.ts';
import {
  lifecycleFields,
  lifecycleHeaders,
  notificationFields,
  readLifecycle,
  readNotification,
  transitionMinimumOf,
} from './wire/settings.ts';

export async function listBuckets(call: S3Call): Promise<RawAnswer> {
  const { request, state, address } = call;
  const prefix = address.query.get('prefix') ?? '';
  const max = bucketsAsked(address.query.get('max-buckets'));
  const token = address.query.get('continuation-token');
  const after = token === undefined ? '' : nameIn(token);
  let rows: readonly BucketRow[] = [];
  await request.perform(call.capability, async (ctx) => {
    const limit = bucketLimits.buckets.enterprise;
    rows = await bucketTable.list(state.core.db, ctx, { after: null, limit });
    return { data: null };
  });
  const named = rows.filter(({ bucket }) => bucket > after && bucket.startsWith(prefix));
  const page = named.slice(0, max);
  const next = page.length < named.length ? { ContinuationToken: tokenOf(page.at(-1)?.bucket ?? '') } : {};
  const shown = page.map((row) => ({ Name: row.bucket, CreationDate: instantOf(row.created_at) }));
  return xmlAnswer(call, 'ListAllMyBucketsResult', {
    Owner: ownerOf(call),
    Buckets: { Bucket: shown },
    ...next,
    ...(prefix === '' ? {} : { Prefix: prefix }),
  });
}

function bucketsAsked(sent: string | undefined): number {
  const number = /^\d{1,5}$/.test(sent ?? '10000') ? Number(sent ?? '10000') : 0;
  if (number >= 1 && number <= 10_000) return number;
  throw refusal('InvalidArgument', 'max-buckets is 1 to 10,000.');
}

export async function createBucket(call: S3Call): Promise<RawAnswer> {
  refuseUnserved(call.headers);
  const bucket = bucketOf(call);
  const named = readCreateBucket(await shortBody(call));
  const usual = awsRegion(call.state.core);
  const region = named === usual ? null : named;
  await call.request.perform(call.capability, (ctx) => {
    requireBucketName(bucket);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const present = region === null ? await bucketTable.find(tx, ctx, bucket) : null;
      // In us-east-1 alone Amazon makes an account's bucket again, which changes nothing of it.
      if (present?.region === null && usual === 'us-east-1') return null;
      await addBucket(tx, ctx, { bucket, region }, nowMs);
      return null;
    });
  });
  return emptyAnswer(call, 200, { location: `/${bucket}` });
}

export async function headBucket(call: S3Call): Promise<RawAnswer> {
  const { region } = await bucketRow(call);
  return emptyAnswer(call, 200, { 'x-amz-bucket-region': region ?? awsRegion(call.state.core) });
}

export async function deleteBucket(call: S3Call): Promise<RawAnswer> {
  const { deleted } = (await callCapability(call, { bucket: bucketOf(call) })) as { deleted: boolean };
  // Natively a bucket that is not there is deleted already.
  if (!deleted) throw bucketMissing();
  return emptyAnswer(call, 204);
}

export async function getLocation(call: S3Call): Promise<RawAnswer> {
  const row = await bucketRow(call);
  const region = row.region ?? awsRegion(call.state.core);
  // That of most clients is told by nothing.
  return xmlAnswer(call, 'LocationConstraint', region === 'us-east-1' ? '' : region);
}

/** Off. */
export async function getVersioning(call: S3Call): Promise<RawAnswer> {
  await readBucket(call);
  return xmlAnswer(call, 'VersioningConfiguration', {});
}

export async function getLifecycle(call: S3Call): Promise<RawAnswer> {
  const row = await bucketRow(call);
  const lifecycle = lifecycleShown(row.lifecycle, { expire: row.expire ?? [], abort_uploads: row.abort_uploads ?? [] });
  if (lifecycle.rules.length === 0) {
    throw refusal('NoSuchLifecycleConfiguration', 'The bucket has no lifecycle rules.');
  }
  const answer = xmlAnswer(call, 'LifecycleConfiguration', lifecycleFields(lifecycle));
  return { ...answer, headers: { ...answer.headers, ...lifecycleHeaders(lifecycle) } };
}

export async function putLifecycle(call: S3Call): Promise<RawAnswer> {
  const rules = readLifecycle(await shortBody(call));
  const lifecycle = { rules, transitionMinimum: transitionMinimumOf(call.headers) };
  const applied = appliedRules(lifecycle);
  await change(call, (tx, nowMs) => setRules(tx, call.accountId, bucketOf(call), { ...applied, lifecycle }, nowMs));
  return emptyAnswer(call, 200, lifecycleHeaders(lifecycle));
}

export async function deleteLifecycle(call: S3Call): Promise<RawAnswer> {
  const none = { expire: [], abort_uploads: [], lifecycle: null };
  await change(call, (tx, nowMs) => setRules(tx, call.accountId, bucketOf(call), none, nowMs));
  return emptyAnswer(call, 204);
}

export async function getCors(call: S3Call): Promise<RawAnswer> {
  const { cors } = await bucketRow(call);
  if (cors === null) throw refusal('NoSuchCORSConfiguration', 'The CORS configuration does not exist.');
  return xmlAnswer(call, 'CORSConfiguration', corsFields(cors));
}

export async function putCors(call: S3Call): Promise<RawAnswer> {
  const rules = readCors(await shortBody(call));
  await change(call, (tx) => saveCors(tx, call.accountId, bucketOf(call), rules));
  return emptyAnswer(call, 200);
}

export async function deleteCors(call: S3Call): Promise<RawAnswer> {
  await change(call, (tx) => saveCors(tx, call.accountId, bucketOf(call), []));
  return emptyAnswer(call, 204);
}

export async function getNotification(call: S3Call): Promise<RawAnswer> {
  const { notify } = await bucketRow(call);
  const arnOf = (queue: string) => queueArn(call.state.core, call.accountId, queue);
  return xmlAnswer(call, 'NotificationConfiguration', notificationFields(notify, arnOf));
}

export async function putNotification(call: S3Call): Promise<RawAnswer> {
  const notify = readNotification(await shortBody(call), (arn) => {
    const name = queueNameInArn(arn, call.accountId);
    if (name === null || name.length < QUEUE_NAME_CHARACTERS_MIN) {
      throw refusal('InvalidArgument', 'The queue is named by its ARN, and is one of the account.');
    }
    // Names of queues are in lower case, however a client of SQS spells them.
    return name.toLowerCase();
  });
  await change(call, (tx) => saveNotify(tx, call.accountId, bucketOf(call), notify));
  return emptyAnswer(call, 200);
}

/** One of the settings; the others stay. Throws BUCKET_NOT_FOUND. */
async function change(call: S3Call, set: (tx: Transaction, nowMs: number) => Promise<void>): Promise<void> {
  await call.request.perform(call.capability, (ctx) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      await requireRow(buckets, tx, ctx, bucketOf(call));
      await set(tx, nowMs);
      return null;
    }),
  );
}

/** Throws BUCKET_NOT_FOUND. */
async function bucketRow(call: S3Call): Promise<BucketRow> {
  let row: BucketRow | undefined;
  await call.request.perform(call.capability, async (ctx) => {
    row = await requireRow(buckets, ctx.core.db, ctx, bucketOf(call));
    return { data: null };
  });
  return row as BucketRow;
}

export async function readBucket(call: S3Call): Promise<void> {
  await callCapability(call, { bucket: bucketOf(call) });
}

/** Calls the capability. Answers its data; throws what it fails with. */
async function callCapability({ request, capability }: S3Call, input: object): Promise<unknown> {
  const { answer, problem } = await request.invoke(capability, { ...input });
  if (problem !== null) throw problem;
  return answer?.data;
}
