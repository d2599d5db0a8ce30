// Shares (links for people): storage, records and download counting.
import Type, { type Static } from 'typebox';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { instant, textOrNull, wholeOrNull } from '../../../kit/fields.ts';
import { type Resource, resourceTable, rowSaver } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import type { StorageState } from '../state.ts';

export interface ShareRow {
  readonly account_id: string;
  readonly share_id: string;
  readonly bucket: string;
  readonly key: Buffer;
  readonly filename: string | null;
  readonly downloads_max: number | null;
  readonly downloads: number;
  readonly key_id: string;
  readonly created_at: number;
  readonly expires_at: number;
}

export const shareSchema = Type.Object({
  share_id: Type.String({ description: 'Its id, `shr_…`.' }),
  bucket: Type.String({ description: 'The bucket.' }),
  key: Type.String({ description: 'The key; whatever stands under it then is what is downloaded.' }),
  url: Type.String({ description: 'The address; whoever has it may download.' }),
  filename: textOrNull('The name that a browser saves it by; null: the last part of the key.'),
  downloads_max: wholeOrNull('The most downloads; null means no limit.'),
  downloads: Type.Integer({ description: 'Downloads so far.' }),
  created_at: instant('When it was made.'),
  expires_at: instant('When it ends.'),
});

const shape = {
  table: 'storage.share',
  key: 'share_id',
  columns: 'share_id, bucket, key, filename, downloads_max, downloads, key_id, created_at, expires_at',
  isNewestFirst: true,
};
export const shareTable = resourceTable<ShareRow>({ ...shape, columns: `account_id, ${shape.columns}` });
export const saveShare = rowSaver<Omit<ShareRow, 'account_id'>>(shape);

const useShare = statement(
  'storage_use_share',
  `UPDATE storage.share SET downloads = downloads + 1
    WHERE account_id = $1 AND share_id = $2 AND expires_at > $3 AND (downloads_max IS NULL OR downloads < downloads_max)`,
);

/** Counts a download. False: it has ended, or is used up. */
export async function countDownload(
  tx: Transaction,
  accountId: string,
  shareId: string,
  nowMs: number,
): Promise<boolean> {
  return (await tx.query(useShare, [accountId, shareId, timestamp(nowMs)])).count === 1;
}

export const shares: Resource<ShareRow, StorageState, typeof shareSchema> = {
  ...shareTable,
  noun: 'share',
  keyName: 'share_id',
  output: shareSchema,
  keyField: Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Id of the share, `shr_…`.',
  }),
  show: (row, { state, ctx }) => showShare(row, state.links.share({ accountId: ctx.accountId, shareId: row.share_id })),
};

export function showShare(row: Omit<ShareRow, 'account_id'>, url: string): Static<typeof shareSchema> {
  return {
    share_id: row.share_id,
    bucket: row.bucket,
    key: row.key.toString('utf8'),
    url,
    filename: row.filename,
    downloads_max: row.downloads_max,
    downloads: row.downloads,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  };
}
