// PostObject: a form of a browser whose signed policy says what may be stored (docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html). Its fields
// come before the file and are few; the key, its scope, rate and policy are looked at before a byte of the file is kept.
import { admission } from '../../../core/admission.ts';
import { type SignedText, signedTextCredential } from '../../../core/credentials/sigv4.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import { boundaryOf, FormError, FormStream, type StreamedPart } from '../../../lib/form-stream.ts';
import { keepBytes } from '../../../objects/blobs.ts';
import { requireWritable } from '../../../objects/door.ts';
import { PUT_BYTES_MAX } from '../../../objects/limits.ts';
import { keyBytes } from '../../../objects/object.ts';
import { putObject } from '../../../objects/put.ts';
import { problem } from '../../../problems/problem.ts';
import type { StorageState } from '../state.ts';
import { checksumsShown, objectUrl, type StoredChecksums } from './call.ts';
import { headersFor } from './cors.ts';
import { aboutOf, requireDigests, storedObject } from './objects.ts';
import { readTagging } from './wire/bodies.ts';
import { sentChecksums } from './wire/checksums.ts';
import { refuseUnserved, writtenObject } from './wire/object-headers.ts';
import { addressOf, type S3Address } from './wire/operation.ts';
import { type PostPolicy, readPolicy, requireAllowed } from './wire/policy.ts';
import { notImplemented, refusal } from './wire/refusals.ts';
import { xmlDocument } from './wire/xml.ts';

const CAPABILITY = 'storage.object.put';
const { postFieldsBytesMax, postFieldsMax, postBehindBytesMax: BEHIND_BYTES_MAX } = admission.doors;
const FIELD_BOUNDS = { bytesMax: postFieldsBytesMax, partsMax: postFieldsMax };
/** The file, and all beside it. */
export const FORM_BYTES_MAX = PUT_BYTES_MAX + FIELD_BOUNDS.bytesMax + BEHIND_BYTES_MAX;
/** Fields that are headers of a PUT. */
const HEADERS = new Set([
  'cache-control',
  'content-type',
  'content-disposition',
  'content-encoding',
  'expires',
  'content-md5',
]);
// biome-ignore lint/suspicious/noTemplateCurlyInString: so forms write it
const FILENAME = '${filename}';
const SCOPE = /^([^/]+)\/((\d{8})\/[^/]{1,40}\/s3\/aws4_request)$/;

type Fields = ReadonlyMap<string, string>;

export async function answerForm(request: RawRequest, state: StorageState): Promise<RawAnswer> {
  const address = addressOf(request.routed);
  const bucket = bucketOf(address);
  const announced = request.headers['content-length'];
  if (announced === undefined) throw refusal('MissingContentLength', 'Say how long the form is: send Content-Length.');
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (boundary === null) throw badForm('Content-Type names no boundary.');
  const form = new FormStream(request.stream as AsyncIterable<Buffer>, boundary, FIELD_BOUNDS);
  try {
    const { fields, file } = await readFields(form);
    const principal = await request.identify(signedTextCredential(signedPolicyOf(fields)));
    request.carry(await headersFor(request, state, principal.accountId));
    await request.admitCall(CAPABILITY);
    const policy = readPolicy(fields.get('policy') as string);
    const key = keyOf(fields, file);
    requireAllowed(policy, new Map([...fields, ['bucket', bucket], ['key', key]]), Date.now());
    const stored = await store(request, { form, fields, bucket, key, policy, announced: Number(announced) });
    return answerOf(state, fields, stored);
  } catch (error) {
    throw error instanceof FormError ? problemOf(error) : error;
  } finally {
    await form.close();
  }
}

function bucketOf({ bucket, key, query }: S3Address): string {
  if (bucket === null || key !== null) throw refusal('MethodNotAllowed', 'A form is sent to the address of a bucket.');
  if (query.has('delete')) throw notImplemented('POST ?delete with a form');
  return bucket;
}

/** By their names in lower case, to the file. Throws FormError, InvalidArgument. */
async function readFields(form: FormStream): Promise<{ readonly fields: Fields; readonly file: StreamedPart }> {
  const fields = new Map<string, string>();
  let part = await form.first();
  while (part !== null) {
    const name = part.name.toLowerCase();
    if (name === 'file') return { fields, file: part };
    if (fields.has(name))
      throw argument(`POST requires exactly one value of each field: ${name.slice(0, 60)} comes twice.`);
    const { value, next } = await form.field();
    fields.set(name, value);
    part = next;
  }
  throw argument('POST requires exactly one file upload per request, in the field `file`.');
}

/** Throws UNAUTHORIZED, InvalidArgument. */
function signedPolicyOf(fields: Fields): SignedText {
  const text = fields.get('policy');
  // Nobody may write without a key.
  if (text === undefined) throw problem('UNAUTHORIZED', { message: 'The form has no policy: no bucket is public.' });
  if (fields.get('awsaccesskeyid') !== undefined) {
    return {
      accessKeyId: requireField(fields, 'awsaccesskeyid'),
      text,
      signature: requireField(fields, 'signature'),
      scope: null,
    };
  }
  const [, accessKeyId, scope, day] = SCOPE.exec(requireField(fields, 'x-amz-credential')) ?? [];
  const isSound =
    requireField(fields, 'x-amz-algorithm') === 'AWS4-HMAC-SHA256' &&
    /^\d{8}T\d{6}Z$/.test(requireField(fields, 'x-amz-date')) &&
    requireField(fields, 'x-amz-date').slice(0, 8) === day;
  if (accessKeyId === undefined || scope === undefined || !isSound) {
    throw argument('The form must be signed by AWS4-HMAC-SHA256, its X-Amz-Credential of the day of X-Amz-Date.');
  }
  return { accessKeyId, text, signature: requireField(fields, 'x-amz-signature'), scope };
}

function requireField(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined || value === '') throw argument(`Bucket POST must contain a field named '${name}'.`);
  return value;
}

/** Throws InvalidArgument. */
function keyOf(fields: Fields, { filename }: StreamedPart): string {
  // Browsers of old sent whole paths.
  const name = filename.split(/[/\\]/).at(-1) ?? '';
  const key = requireField(fields, 'key').replaceAll(FILENAME, () => name);
  if (key === '') throw argument('User key must have a length greater than 0.');
  return key;
}

interface Storing {
  readonly form: FormStream;
  readonly fields: Fields;
  readonly bucket: string;
  readonly key: string;
  readonly policy: PostPolicy;
  /** Bytes of the whole form. */
  readonly announced: number;
}

interface Stored {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
  readonly checksums: StoredChecksums | null;
}

async function store(
  request: RawRequest,
  { form, fields, bucket, key: keyText, policy, announced }: Storing,
): Promise<Stored> {
  const headers = headersIn(fields);
  refuseUnserved(headers);
  const about = { ...aboutOf(writtenObject(headers)), ...tagsIn(fields) };
  const sent = sentChecksums(headers);
  const key = keyBytes(keyText);
  // Of the usual form, whose file comes last, exactly as many.
  const left = Math.max(0, announced - form.passed - form.endBytes);
  if (left - BEHIND_BYTES_MAX > policy.bytesMax) throw tooLarge(policy);
  const bytes = Math.min(left, policy.bytesMax);
  let kept: StoredChecksums | null = null;
  const { data } = await request.perform(CAPABILITY, async (ctx) => {
    await requireWritable(ctx, bucket, bytes);
    const algorithms = sent.algorithm === null ? [] : [sent.algorithm];
    const source = requireLength(form, policy);
    return keepBytes(ctx, { source, bytes, isUpTo: true, algorithms }, (blob) => {
      requireDigests(sent, blob);
      kept = sent.algorithm === null ? null : { ...blob.checksums, type: 'FULL_OBJECT' };
      return putObject(ctx, {
        bucket,
        key,
        conditions: {},
        about: { ...about, checksums: kept },
        content: { kind: 'blob', blobId: blob.blobId, bytes: blob.bytes, etag: blob.md5 },
      });
    });
  });
  return { bucket, key: keyText, etag: storedObject(data).etag, checksums: kept };
}

/** Throws EntityTooLarge, EntityTooSmall. */
async function* requireLength(form: FormStream, policy: PostPolicy): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const block of form.file()) {
    bytes += block.length;
    if (bytes > policy.bytesMax) throw tooLarge(policy);
    yield block;
  }
  if (bytes < policy.bytesMin) {
    throw refusal('EntityTooSmall', `The file has ${bytes} bytes; its policy asks for ${policy.bytesMin} at least.`);
  }
  await form.drain(BEHIND_BYTES_MAX);
}

function tooLarge({ bytesMax }: PostPolicy) {
  return refusal('EntityTooLarge', `The file has more than the ${bytesMax} bytes that its policy allows.`);
}

/** As a PUT would bring them: Node has the bytes of UTF-8 as Latin-1. */
function headersIn(fields: Fields): Record<string, string> {
  const isHeader = (name: string) =>
    HEADERS.has(name) || /^x-amz-(?!algorithm$|credential$|date$|signature$)/.test(name);
  const pairs = [...fields].filter(([name]) => isHeader(name)).map(([name, value]) => [name, latin1(value)] as const);
  const acl = fields.get('acl');
  return { ...Object.fromEntries(pairs), ...(acl === undefined ? {} : { 'x-amz-acl': acl }) };
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

function tagsIn(fields: Fields): { readonly tags?: Readonly<Record<string, string>> } {
  const sent = fields.get('tagging');
  return sent === undefined ? {} : { tags: readTagging(Buffer.from(sent)) };
}

function answerOf(state: StorageState, fields: Fields, { bucket, key, etag, checksums }: Stored): RawAnswer {
  const location = objectUrl(state, bucket, key);
  const headers = { etag: `"${etag}"`, ...checksumsShown(checksums, 'headers') };
  const next = redirectOf(fields.get('success_action_redirect') ?? fields.get('redirect'));
  if (next !== null) {
    for (const [name, value] of Object.entries({ bucket, key, etag: `"${etag}"` }))
      next.searchParams.append(name, value);
    return { status: 303, headers: { ...headers, location: next.href }, body: '' };
  }
  if (fields.get('success_action_status') === '201') {
    const body = xmlDocument('PostResponse', { Location: location, Bucket: bucket, Key: key, ETag: `"${etag}"` });
    return { status: 201, headers: { ...headers, location, 'content-type': 'application/xml' }, body };
  }
  const status = fields.get('success_action_status') === '200' ? 200 : 204;
  return { status, headers: { ...headers, location }, body: '' };
}

/** Null: none that can be read, which is as none. */
function redirectOf(sent: string | undefined): URL | null {
  const url = sent === undefined ? null : URL.parse(sent);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url : null;
}

function problemOf({ reason, message }: FormError) {
  return reason === 'too_long' ? refusal('MaxPostPreDataLengthExceeded', message) : badForm(message);
}

function badForm(message: string) {
  return refusal(
    'MalformedPOSTRequest',
    `The body of your POST request is not well-formed multipart/form-data. ${message}`,
  );
}

function argument(message: string) {
  return refusal('InvalidArgument', message);
}
