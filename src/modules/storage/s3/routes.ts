// Routes for Amazon S3 clients: below /s3, and at the roots that S3_PORT and S3_DOMAIN give it. Each operation is a call of the native
// capability with the same effect: its scope, rate, price, usage and events. Signed in headers or in the query.
import { accountDigits } from '../../../core/credentials/aws-arns.ts';
import { sigV4 } from '../../../core/credentials/sigv4.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import { PUT_BYTES_MAX } from '../../../objects/limits.ts';
import { problem } from '../../../problems/problem.ts';
import type { StorageState } from '../state.ts';
import {
  createBucket,
  deleteBucket,
  deleteCors,
  deleteLifecycle,
  getCors,
  getLifecycle,
  getLocation,
  getNotification,
  getVersioning,
  headBucket,
  listBuckets,
  putCors,
  putLifecycle,
  putNotification,
} from './buckets.ts';
import type { S3Operation } from './call.ts';
import { copyObject } from './copies.ts';
import { answerPreflight, headersOfAnswer } from './cors.ts';
import { listObjects } from './lists.ts';
import { getBucketAcl, getObjectAcl, noneOf, putBucketAcl, putObjectAcl, usual } from './none.ts';
import { deleteObject, deleteObjects, getAttributes, getObject, headObject, putObjectOf } from './objects.ts';
import { answerForm, FORM_BYTES_MAX } from './post-form.ts';
import { deleteTagging, getTagging, putTagging } from './tags.ts';
import { listParts, listUploads } from './upload-lists.ts';
import { abortUpload, completeUpload, copyPart, createUpload, uploadPart } from './uploads.ts';
import { LONG_XML_BYTES_MAX } from './wire/bodies.ts';
import { failureAnswer } from './wire/failures.ts';
import { headersOf } from './wire/object-headers.ts';
import { addressOf, type Operation, operationOf } from './wire/operation.ts';
import { refusal } from './wire/refusals.ts';

type Served = readonly [run: S3Operation, capability: string];

const OPERATIONS: Readonly<Record<Operation, Served>> = {
  ListBuckets: [listBuckets, 'storage.bucket.list'],
  CreateBucket: [createBucket, 'storage.bucket.create'],
  HeadBucket: [headBucket, 'storage.bucket.get'],
  DeleteBucket: [deleteBucket, 'storage.bucket.delete'],
  GetBucketCors: [getCors, 'storage.bucket.get'],
  PutBucketCors: [putCors, 'storage.bucket.settings'],
  DeleteBucketCors: [deleteCors, 'storage.bucket.settings'],
  GetBucketAcl: [getBucketAcl, 'storage.bucket.get'],
  PutBucketAcl: [putBucketAcl, 'storage.bucket.get'],
  GetBucketPolicy: [noneOf('NoSuchBucketPolicy', 'policy'), 'storage.bucket.get'],
  GetBucketPolicyStatus: [usual('PolicyStatus', { IsPublic: false }), 'storage.bucket.get'],
  GetBucketEncryption: [
    noneOf('ServerSideEncryptionConfigurationNotFoundError', 'encryption of its own'),
    'storage.bucket.get',
  ],
  GetBucketTagging: [noneOf('NoSuchTagSet', 'tags'), 'storage.bucket.get'],
  GetBucketWebsite: [noneOf('NoSuchWebsiteConfiguration', 'website'), 'storage.bucket.get'],
  GetObjectLockConfiguration: [noneOf('ObjectLockConfigurationNotFoundError', 'object lock'), 'storage.bucket.get'],
  GetBucketReplication: [noneOf('ReplicationConfigurationNotFoundError', 'replication'), 'storage.bucket.get'],
  GetPublicAccessBlock: [
    noneOf('NoSuchPublicAccessBlockConfiguration', 'block of public access, and no public access'),
    'storage.bucket.get',
  ],
  GetBucketOwnershipControls: [noneOf('OwnershipControlsNotFoundError', 'ownership controls'), 'storage.bucket.get'],
  GetBucketLogging: [usual('BucketLoggingStatus', {}), 'storage.bucket.get'],
  GetBucketRequestPayment: [usual('RequestPaymentConfiguration', { Payer: 'BucketOwner' }), 'storage.bucket.get'],
  GetBucketAccelerateConfiguration: [usual('AccelerateConfiguration', {}), 'storage.bucket.get'],
  GetBucketLocation: [getLocation, 'storage.bucket.get'],
  GetBucketVersioning: [getVersioning, 'storage.bucket.get'],
  GetBucketLifecycleConfiguration: [getLifecycle, 'storage.bucket.get'],
  PutBucketLifecycleConfiguration: [putLifecycle, 'storage.bucket.settings'],
  DeleteBucketLifecycle: [deleteLifecycle, 'storage.bucket.settings'],
  GetBucketNotificationConfiguration: [getNotification, 'storage.bucket.get'],
  PutBucketNotificationConfiguration: [putNotification, 'storage.bucket.settings'],
  ListObjects: [listObjects, 'storage.object.list'],
  ListObjectVersions: [listObjects, 'storage.object.list'],
  ListObjectsV2: [listObjects, 'storage.object.list'],
  ListMultipartUploads: [listUploads, 'storage.object.list'],
  DeleteObjects: [deleteObjects, 'storage.object.delete'],
  GetObject: [getObject, 'storage.object.get'],
  HeadObject: [headObject, 'storage.object.head'],
  GetObjectAcl: [getObjectAcl, 'storage.object.head'],
  PutObjectAcl: [putObjectAcl, 'storage.object.head'],
  GetObjectAttributes: [getAttributes, 'storage.object.head'],
  PutObject: [putObjectOf, 'storage.object.put'],
  CopyObject: [copyObject, 'storage.object.copy'],
  DeleteObject: [deleteObject, 'storage.object.delete'],
  GetObjectTagging: [getTagging, 'storage.object.head'],
  PutObjectTagging: [putTagging, 'storage.object.put'],
  DeleteObjectTagging: [deleteTagging, 'storage.object.put'],
  CreateMultipartUpload: [createUpload, 'storage.object.put'],
  UploadPart: [uploadPart, 'storage.object.put'],
  UploadPartCopy: [copyPart, 'storage.object.put'],
  CompleteMultipartUpload: [completeUpload, 'storage.object.put'],
  AbortMultipartUpload: [abortUpload, 'storage.object.put'],
  ListParts: [listParts, 'storage.object.put'],
};

const OLD_SIGNATURE =
  "Sign the request by Signature Version 4 (AWS4-HMAC-SHA256); older ones are not supported. boto3: Config(signature_version='s3v4'); " +
  "django-storages: AWS_S3_SIGNATURE_VERSION = 's3v4'; awscli 1: aws configure set default.s3.signature_version s3v4.";
const PATHS = ['/s3', '/s3/{path*}'] as const;

export const s3Routes: readonly RawRoute<StorageState>[] = PATHS.flatMap((path) => [
  { ...routeOf(path), methods: ['GET', 'HEAD', 'PUT', 'DELETE'], stream: 'both', bodyBytesMax: PUT_BYTES_MAX },
  // Its bodies are read as a whole, and counted among what bodies hold.
  { ...routeOf(path), methods: ['POST'], bodyBytesMax: LONG_XML_BYTES_MAX },
  {
    ...routeOf(path),
    methods: ['POST'],
    takesForms: true,
    stream: 'both',
    bodyBytesMax: FORM_BYTES_MAX,
    // Its signature is in the form.
    credentialOf: () => null,
    answer: answerForm,
  },
  { ...routeOf(path), methods: ['OPTIONS'], bodyBytesMax: 1, credentialOf: () => null, answer: answerPreflight },
]);

function routeOf(path: string): Omit<RawRoute<StorageState>, 'methods' | 'bodyBytesMax'> {
  return {
    name: 'storage.s3',
    path,
    capability: null,
    encodings: 'kept',
    headersFor: headersOfAnswer,
    credentialOf,
    answer,
    passesAwsChunked: true,
    refuse: failureAnswer,
  };
}

/** Throws UNAUTHORIZED for a request without a signature. */
function credentialOf(head: RawHead) {
  const credential = sigV4(head, { services: ['s3'] });
  if (credential !== null) return credential;
  const { headers, query } = head;
  if (headers.authorization !== undefined || query.has('Signature')) throw refusal('InvalidRequest', OLD_SIGNATURE);
  throw problem('UNAUTHORIZED');
}

async function answer(request: RawRequest, state: StorageState): Promise<RawAnswer> {
  const { principal } = request;
  if (principal === null) throw new Error('the signature is looked at before the request is answered');
  const address = addressOf(request.routed);
  const headers = headersOf(request.headers, address);
  requireOwner(headers, principal.accountId);
  const [run, capability] = OPERATIONS[await operationIn(request, address, headers)];
  // Scope and rate come before anything of the body is read, or looked up by its name.
  await request.admitCall(capability);
  return run({ request, state, accountId: principal.accountId, address, headers, capability });
}

/** Throws AccessDenied: all buckets are the account's, and the client means those of another one. */
function requireOwner(headers: RawRequest['headers'], accountId: string): void {
  for (const name of ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner']) {
    const owner = headers[name];
    if (owner !== undefined && owner !== accountId && owner !== accountDigits(accountId)) {
      throw refusal('AccessDenied', `The buckets of this key are not those of the account that ${name} names.`);
    }
  }
}

/** What is no operation takes a rate too. */
async function operationIn(
  request: RawRequest,
  address: ReturnType<typeof addressOf>,
  headers: RawRequest['headers'],
): Promise<Operation> {
  try {
    return operationOf(request.method, address, headers);
  } catch (error) {
    await request.rate();
    throw error;
  }
}
