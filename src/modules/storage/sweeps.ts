// Garbage collection: blobs that were released or never finished, parts of ended uploads, old shares, and asset store files without a row. A
// blob is first marked dead, then its bytes are deleted, then its row: after a crash at any point it is found again.
import { mendEach, removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { textArray } from '../../db/arrays.ts';
import { statement } from '../../db/statement.ts';
import type { Services } from '../../kit/services.ts';
import { removeBlob } from '../../objects/blobs.ts';
import { WRITING_MS } from '../../objects/limits.ts';
import { accountIn, PIECES } from '../../objects/pieces.ts';
import { endUpload, findDueUploads } from './uploads-sweep.ts';

const PER_RUN = 200;
const SHARE_DAYS = 30;

const findDue = statement(
  'storage_find_due_blobs',
  `/* fan-out: blobs that nothing names, and those that were never finished */
   SELECT b.account_id, b.blob_id FROM storage.blob b WHERE b.due_at <= core.clock_now() ORDER BY b.due_at LIMIT $1`,
);
const findShares = statement(
  'storage_find_old_shares',
  `/* fan-out: shares that ended long ago */
   SELECT s.account_id, s.share_id AS id FROM storage.share s
    WHERE s.expires_at <= core.clock_now() - interval '${SHARE_DAYS} days' ORDER BY s.expires_at LIMIT $1`,
);
const removeShares = statement(
  'storage_remove_old_shares',
  `DELETE FROM storage.share
    WHERE account_id = $1 AND share_id = ANY($2::text[]) AND expires_at <= core.clock_now() - interval '${SHARE_DAYS} days'`,
);
const findAccount = statement('storage_find_account', 'SELECT 1 AS found FROM core.wallet WHERE account_id = $1');

export function storageSweeps(core: Services): Sweep[] {
  const { db } = core;
  const from = { after: '' };
  return [
    { name: 'storage.blobs', intervalMs: 30_000, run: (signal) => removeBlobs(core, signal) },
    {
      name: 'storage.uploads',
      intervalMs: 30_000,
      run: async (signal) => {
        const rows = await findDueUploads(db, PER_RUN);
        const finished = await mendEach(rows, signal, (row) => endUpload(core, row));
        return finished && rows.length === PER_RUN;
      },
    },
    {
      name: 'storage.shares',
      intervalMs: 600_000,
      run: removeOldRows<{ account_id: string; id: string }>(db, {
        find: findShares,
        remove: removeShares,
        keys: (rows) => [textArray(rows.map(({ id }) => id))],
      }),
    },
    { name: 'storage.orphans', intervalMs: 3_600_000, run: (signal) => removeOrphans(core, from, signal) },
  ];
}

async function removeBlobs(core: Services, signal: AbortSignal): Promise<boolean> {
  const { rows } = await core.db.query<{ account_id: string; blob_id: string }>(findDue, [PER_RUN]);
  const finished = await mendEach(rows, signal, ({ account_id, blob_id }) =>
    removeBlob(core, account_id, blob_id, 'due'),
  );
  return finished && rows.length === PER_RUN;
}

/** Files of accounts that are gone. Those of the others have rows, which come before them. */
function removeOrphans({ assets, db }: Services, from: { after: string }, signal: AbortSignal): Promise<boolean> {
  const beforeMs = Date.now() - WRITING_MS;
  const isNamed = async (key: string) => {
    const accountId = accountIn(key);
    // What was not put by us here is left alone.
    if (accountId === null) return true;
    const isThere = (await db.query(findAccount, [accountId])).rows.length > 0;
    return isThere ? { after: `${PIECES}${accountId}/~` } : false;
  };
  return assets.removeOrphans({ prefix: PIECES, beforeMs, from, isNamed }, signal);
}
