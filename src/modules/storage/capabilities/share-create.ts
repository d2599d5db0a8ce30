import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { expiresField, plainText } from '../../../kit/fields.ts';
import { newId } from '../../../lib/ids.ts';
import { keyBytes } from '../../../objects/object.ts';
import { findObject } from '../../../objects/read.ts';
import { bucketField, EXPIRES_SECONDS_MAX, keyField } from '../schemas.ts';
import { saveShare, shareSchema, showShare } from '../shares/shares.ts';
import type { StorageState } from '../state.ts';

const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;

export const createShare = defineCapability<StorageState>()({
  method: 'POST',
  path: '/v1/storage/share/create',
  summary: 'Makes a link by which people without a key download an object.',
  description:
    'The link ends by time, after so many downloads, or by storage.share.revoke. Each download is charged to the account as storage.object.get. ' +
    'Pages of HTML are sent as files, never shown.',
  keywords: ['share file', 'download link', 'public link', 'send file'],
  input: Type.Object({
    bucket: bucketField,
    key: keyField,
    expires_seconds: expiresField(
      { min: 60, max: YEAR_SECONDS, usual: EXPIRES_SECONDS_MAX },
      'A week when absent, a year at most.',
    ),
    downloads_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Any number when absent.' }),
    ),
    filename: Type.Optional(
      plainText(200, 'The name that a browser saves it by; the last part of the key when absent.'),
    ),
  }),
  output: shareSchema,
  laterPrices: ['storage.read'],
  answersSecret: 'callers',
  errors: ['BUCKET_NOT_FOUND', 'OBJECT_NOT_FOUND'],
  examples: [
    {
      title: 'Once, within a day',
      before: [
        { capability: 'storage.bucket.create', input: { bucket: 'reports' } },
        { capability: 'storage.object.put', input: { bucket: 'reports', key: 'november.csv', content: 'a,b\n' } },
      ],
      input: { bucket: 'reports', key: 'november.csv', expires_seconds: 86_400, downloads_max: 1 },
      expect: { downloads: 0, downloads_max: 1 },
    },
  ],
  run: ({ ctx, input, state }) =>
    runWrite(ctx, async (tx, { nowMs }) => {
      const { bucket, expires_seconds: seconds = EXPIRES_SECONDS_MAX, downloads_max = null, filename = null } = input;
      const key = keyBytes(input.key);
      await findObject(ctx, { bucket, key }, { mustBePaid: false, tx });
      const row = {
        share_id: newId('shr_', nowMs),
        bucket,
        key,
        filename,
        downloads_max,
        downloads: 0,
        key_id: ctx.principal.id,
        created_at: nowMs,
        expires_at: nowMs + seconds * 1_000,
      };
      saveShare(tx, ctx, row);
      return showShare(row, state.links.share({ accountId: ctx.accountId, shareId: row.share_id }));
    }),
});
