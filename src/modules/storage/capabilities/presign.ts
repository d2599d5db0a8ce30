import Type from 'typebox';
import { secretAccessKey } from '../../../core/credentials/sigv4.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField, instant } from '../../../kit/fields.ts';
import { presignedUrl } from '../../../lib/sigv4.ts';
import { iso } from '../../../lib/time.ts';
import { READ_PRICE, STORE_PRICES } from '../../../objects/limits.ts';
import { keyBytes } from '../../../objects/object.ts';
import { bucketField, contentTypeField, EXPIRES_SECONDS_MAX, keyField } from '../schemas.ts';
import type { StorageState } from '../state.ts';

export const presign = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/presign',
  summary: 'Makes an address by which somebody without a key reads or writes one object.',
  description:
    'An address of the S3 surface, signed by the calling key: GET reads the object, PUT writes what is sent as its bytes, up to 5 GiB. Each use is a call of ' +
    'that key, at its price. It ends by time, and with the key or its secret. Nothing is written by making one.',
  keywords: ['presigned url', 'signed upload url', 's3 presign'],
  isLongRead: true,
  needsKey: true,
  answersSecret: 'callers',
  input: Type.Object({
    bucket: bucketField,
    key: keyField,
    method: Type.Enum(['GET', 'PUT'], { description: 'What the address is for.' }),
    expires_seconds: expiresField(
      { min: 1, max: EXPIRES_SECONDS_MAX, usual: 3_600 },
      'An hour when absent, a week at most.',
    ),
    content_type: Type.Optional(contentTypeField),
  }),
  output: Type.Object({
    url: Type.String({ description: 'The address.' }),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Headers that must be sent with it.' }),
    expires_at: instant('When it ends.'),
  }),
  // Of each use.
  laterPrices: [READ_PRICE, ...STORE_PRICES],
  examples: [
    {
      title: 'For an upload',
      before: [{ capability: 'storage.bucket.create', input: { bucket: 'inbox' } }],
      input: { bucket: 'inbox', key: 'photo.jpg', method: 'PUT', expires_seconds: 600, content_type: 'image/jpeg' },
      expect: { headers: { 'content-type': 'image/jpeg' } },
    },
  ],
  async run({ ctx, input }) {
    const { bucket, method, expires_seconds: seconds = 3_600, content_type: contentType } = input;
    const { core, principal } = ctx;
    keyBytes(input.key);
    const [hash] = await core.keys.secretsOf(principal.id);
    if (hash === undefined) throw new Error(`the key ${principal.id} that calls has no secret`);
    // Signatures are compared with the clock of the process.
    const nowMs = Date.now();
    const base = new URL(core.baseUrl);
    const path = `${base.pathname.replace(/\/$/, '')}/s3/${bucket}/${input.key.split('/').map(encode).join('/')}`;
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const region = core.region === 'china' ? 'cn-north-1' : 'us-east-1';
    const signer = { accessKeyId: principal.id, secretAccessKey: secretAccessKey(core.secrets, hash), region };
    const signed = presignedUrl(
      { method, url: path, headers: { host: base.host, ...headers } },
      signer,
      seconds,
      nowMs,
    );
    return { data: { url: `${base.origin}${signed}`, headers, expires_at: iso(nowMs + seconds * 1_000) } };
  },
});

/** RFC 3986: all but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}
