import Type from 'typebox';
import { awsRegion } from '../../../core/credentials/aws-arns.ts';
import { secretAccessKey } from '../../../core/credentials/sigv4.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField, instant } from '../../../kit/fields.ts';
import { requireRow } from '../../../kit/resource.ts';
import { signedPost } from '../../../lib/sigv4.ts';
import { iso } from '../../../lib/time.ts';
import { KEY_BYTES_MAX, PUT_BYTES_MAX, STORE_PRICES } from '../../../objects/limits.ts';
import { keyBytes } from '../../../objects/object.ts';
import { invalidField } from '../../../problems/problem.ts';
import { buckets } from '../buckets/buckets.ts';
import { bucketField, contentTypeField, EXPIRES_SECONDS_MAX, keyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: so a form names the file that is chosen
const FILENAME = '${filename}';

export const linkUpload = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/upload/link',
  summary: 'Makes what a web page needs to upload a file without a key.',
  description:
    'A form of the S3 surface, signed by the calling key: send `fields`, then the file as the last field `file`, as multipart/form-data to `url`. The ' +
    'key of the object, its type and its length are what you set here, whatever the page sends. Each use is a call of storage.object.put by that ' +
    'key, at its price; the link may be used until it ends, and ends with the key or its secret. A script of a page reads the answer where `cors` of ' +
    'the bucket allows its origin POST; a plain form needs no rule. Nothing is written by making one.',
  keywords: ['browser upload', 'presigned post', 'upload form', 'upload from a web page', 'direct upload'],
  isLongRead: true,
  needsKey: true,
  answersSecret: 'callers',
  input: Type.Object({
    bucket: bucketField,
    key: Type.Optional(keyField),
    prefix: Type.Optional(
      Type.String({
        maxLength: KEY_BYTES_MAX,
        description:
          'In place of `key`: the page chooses a key that begins with it; the form adds the name of the file.',
      }),
    ),
    content_type: Type.Optional({
      ...contentTypeField,
      description: 'Only files of this type are taken. Absent: of any type.',
    }),
    bytes_max: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: PUT_BYTES_MAX,
        description: 'The longest file that is taken. 5 GiB when absent.',
      }),
    ),
    expires_seconds: expiresField(
      { min: 1, max: EXPIRES_SECONDS_MAX, usual: 3_600 },
      'An hour when absent, a week at most.',
    ),
  }),
  output: Type.Object({
    url: Type.String({ description: 'Where the form is sent.' }),
    method: Type.Enum(['POST'], { description: 'How.' }),
    fields: Type.Record(Type.String(), Type.String(), { description: 'Fields of the form, before `file`.' }),
    expires_at: instant('When it ends.'),
  }),
  // Of each use.
  laterPrices: [...STORE_PRICES],
  errors: ['BUCKET_NOT_FOUND'],
  examples: [
    {
      title: 'A picture of up to 5 MB',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'inbox' } }],
      input: {
        bucket: 'inbox',
        prefix: 'photos/',
        content_type: 'image/jpeg',
        bytes_max: 5_000_000,
        expires_seconds: 600,
      },
      expect: { method: 'POST' },
    },
  ],
  async run({ ctx, input }) {
    const {
      bucket,
      content_type: contentType,
      bytes_max: bytesMax = PUT_BYTES_MAX,
      expires_seconds: seconds = 3_600,
    } = input;
    const { core, principal } = ctx;
    const key = keyAsked(input);
    await requireRow(buckets, core.db, ctx, bucket);
    const [hash] = await core.keys.secretsOf(principal.id);
    if (hash === undefined) throw new Error(`the key ${principal.id} that calls has no secret`);
    // Signatures are compared with the clock of the process.
    const nowMs = Date.now();
    const signer = {
      accessKeyId: principal.id,
      secretAccessKey: secretAccessKey(core.secrets, hash),
      region: awsRegion(core),
    };
    const typed = contentType === undefined ? {} : { 'Content-Type': contentType };
    const conditions = [
      { bucket },
      input.key === undefined ? ['starts-with', '$key', input.prefix ?? ''] : { key },
      contentType === undefined ? ['starts-with', '$Content-Type', ''] : { 'Content-Type': contentType },
      ['starts-with', '$success_action_status', ''],
      ['content-length-range', 0, bytesMax],
    ];
    const fields = { key, ...typed, ...signedPost(conditions, signer, seconds, nowMs) };
    return {
      data: {
        url: `${core.baseUrl}/s3/${bucket}`,
        method: 'POST' as const,
        fields,
        expires_at: iso(nowMs + seconds * 1_000),
      },
    };
  },
});

interface Asked {
  readonly key?: string;
  readonly prefix?: string;
}

/** As the form has it. Throws VALIDATION_FAILED. */
function keyAsked({ key, prefix }: Asked): string {
  if ((key === undefined) === (prefix === undefined)) {
    throw invalidField('key', 'required', 'Send key or prefix, and not both.');
  }
  if (key?.includes(FILENAME) === true) {
    throw invalidField('key', 'filename', `${FILENAME} in a key is the name of the file: send prefix, which adds it.`);
  }
  keyBytes(key ?? prefix ?? '');
  return key ?? `${prefix}${FILENAME}`;
}
