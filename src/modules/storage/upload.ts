// PUT of an object's bytes as the request body, with an API key: for curl and pages, without the base64 of storage.object.put. It is a call of
// that capability.
import { bearer } from '../../core/credentials/http-schemes.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { toJson } from '../../lib/json-text.ts';
import { keepBytes } from '../../objects/blobs.ts';
import { requireWritable } from '../../objects/door.ts';
import { PUT_BYTES_MAX } from '../../objects/limits.ts';
import { keyBytes } from '../../objects/object.ts';
import { putObject } from '../../objects/put.ts';
import { problem } from './problems.ts';
import type { StorageState } from './state.ts';

const CONTENT_TYPE_CHARACTERS_MAX = 255;

export const uploadRoute: RawRoute<StorageState> = {
  name: 'storage.upload',
  methods: ['PUT'],
  path: '/v1/storage/upload/{bucket}/{key*}',
  capability: 'storage.object.put',
  stream: 'both',
  bodyBytesMax: PUT_BYTES_MAX,
  encodings: 'kept',
  credentialOf: bearer,
  isForPages: true,
  answer: upload,
};

async function upload(request: RawRequest): Promise<RawAnswer> {
  const { ctx, params, headers } = request;
  if (ctx === null) throw problem('UNAUTHORIZED');
  const { bucket = '' } = params;
  const key = keyBytes(params.key ?? '');
  const bytes = lengthOf(headers['content-length']);
  const contentType = headers['content-type'] ?? 'application/octet-stream';
  if (contentType.length > CONTENT_TYPE_CHARACTERS_MAX)
    throw problem('INVALID_REQUEST', { message: 'Content-Type is too long.' });
  await requireWritable(ctx, bucket, bytes);
  const answer = await keepBytes(ctx, { source: request.stream, bytes }, (blob) =>
    putObject(ctx, {
      bucket,
      key,
      content: { kind: 'blob', blobId: blob.blobId, bytes, etag: blob.md5 },
      about: { contentType, headers: null, metadata: null, checksums: null, tags: null },
      conditions: headers['if-none-match'] === '*' ? { ifNoneMatch: ['*'] } : {},
    }),
  );
  const body = `{"ok":true,"data":${toJson(answer.data)},"metadata":${JSON.stringify(request.metadata(answer))}}`;
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body,
    costNanos: answer.costNanos,
  };
}

function lengthOf(header: string | undefined): number {
  if (header !== undefined && /^\d{1,16}$/.test(header)) return Number(header);
  throw problem('INVALID_REQUEST', {
    detail: 'length_required',
    message: 'Send Content-Length: the length is compared with your limit before the bytes are read.',
  });
}
