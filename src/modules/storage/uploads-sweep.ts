// Cleanup of ended uploads. Parts that a completed object consists of lose their rows and keep their bytes; all other parts are deleted.
import { lockWallet } from '../../core/callers/lock.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { Services } from '../../kit/services.ts';
import { DEAD_MS } from '../../objects/limits.ts';
import { abortIn } from '../../objects/uploads.ts';

const PARTS_PER_STEP = 500;

export interface DueUpload {
  readonly account_id: string;
  readonly upload_id: string;
}

const findDue = statement(
  'storage_find_due_uploads',
  `/* fan-out: uploads without progress, and the parts of those that have ended */
   SELECT p.account_id, p.upload_id FROM storage.upload p WHERE p.due_at <= core.clock_now() ORDER BY p.due_at LIMIT $1`,
);
const selectDue = statement(
  'storage_select_due_upload',
  `SELECT p.state, p.bytes, p.kept FROM storage.upload p
    WHERE p.account_id = $1 AND p.upload_id = $2 AND p.due_at <= core.clock_now()`,
);
const selectParts = statement(
  'storage_select_some_parts',
  `SELECT t.part_number, t.blob_id FROM storage.part t WHERE t.account_id = $1 AND t.upload_id = $2
    ORDER BY t.part_number LIMIT ${PARTS_PER_STEP}`,
);
const forgetBlobs = statement(
  'storage_forget_blobs',
  'DELETE FROM storage.blob WHERE account_id = $1 AND blob_id = ANY($2::text[])',
);
const letGo = statement(
  'storage_let_blobs_go',
  `UPDATE storage.blob SET refs = 0, state = 'dead', due_at = $3 WHERE account_id = $1 AND blob_id = ANY($2::text[])`,
);
const deleteParts = statement(
  'storage_delete_parts',
  'DELETE FROM storage.part WHERE account_id = $1 AND upload_id = $2 AND blob_id = ANY($3::text[])',
);
const deleteUpload = statement(
  'storage_delete_upload',
  'DELETE FROM storage.upload WHERE account_id = $1 AND upload_id = $2',
);

export async function findDueUploads(db: Queryable, limit: number): Promise<readonly DueUpload[]> {
  return (await db.query<DueUpload>(findDue, [limit])).rows;
}

/** Gives up what has made no progress; then removes its parts, some in each transaction. */
export async function endUpload(
  { db }: Services,
  { account_id: accountId, upload_id: uploadId }: DueUpload,
): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    hasMore = await db.transaction(async (tx) => {
      const wallet = await lockWallet(tx, accountId);
      const { rows } = await tx.query<{ state: string; bytes: bigint; kept: string | null }>(selectDue, [
        accountId,
        uploadId,
      ]);
      const [upload] = rows;
      if (upload === undefined || wallet === null) return false;
      if (upload.state === 'open') {
        await abortIn(tx, { accountId, uploads: [{ ...upload, upload_id: uploadId }], keyId: null }, wallet.nowMs);
        return true;
      }
      const parts = (await tx.query<{ part_number: number; blob_id: string }>(selectParts, [accountId, uploadId])).rows;
      const kept = upload.kept === null ? null : new Set<number>(JSON.parse(upload.kept));
      const isKept = (part: number) => upload.state === 'completed' && (kept === null || kept.has(part));
      const ids = (of: boolean) =>
        textArray(parts.filter(({ part_number }) => isKept(part_number) === of).map(({ blob_id }) => blob_id));
      await tx.query(forgetBlobs, [accountId, ids(true)]);
      await tx.query(letGo, [accountId, ids(false), timestamp(wallet.nowMs + DEAD_MS)]);
      await tx.query(deleteParts, [accountId, uploadId, textArray(parts.map(({ blob_id }) => blob_id))]);
      if (parts.length === PARTS_PER_STEP) return true;
      await tx.query(deleteUpload, [accountId, uploadId]);
      return false;
    });
  }
}
