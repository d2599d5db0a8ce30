// Writes and removal of blobs. A blob's row is written before its bytes, so the sweep finds the bytes that a crash leaves behind.

import type { CallContext } from '../core/callers/context.ts';
import { lockWallet } from '../core/callers/lock.ts';
import type { ChecksumName } from '../core/credentials/aws-checksums.ts';
import { byteaArray, int8Array, textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { newId } from '../lib/ids.ts';
import { problem } from '../problems/problem.ts';
import type { NewBlob } from './changes.ts';
import type { ObjectServices } from './door.ts';
import { WRITING_MS } from './limits.ts';
import { assetKeyOf, type Digests, newPieces, packPieces, unpackPieces, writePieces } from './pieces.ts';
import { accountsOf } from './store.ts';
import { together } from './together.ts';

/** Bytes that are kept and that nothing names yet. */
export interface WrittenBlob extends Digests {
  readonly blobId: string;
  readonly bytes: number;
}

const insertWriting = statement(
  'storage_insert_writing',
  `INSERT INTO storage.blob AS b (account_id, blob_id, state, refs, bytes, pieces, due_at)
   SELECT w.account_id, u.blob_id, 'writing', 0, u.bytes, u.pieces, core.clock_now() + $6 * interval '1 millisecond'
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::bigint[], $5::bytea[]) u(account_id, blob_id, bytes, pieces)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
/**
 * Keeps the bytes of a source for good, and gives the blob to `use`, which commits an object or a part that names it. Where that fails, or the bytes
 * do, they are removed at once; what dies in between is removed after a day. `bytes`: as announced. Throws INVALID_REQUEST for a source of another
 * length, SERVICE_UNAVAILABLE, and what `use` throws.
 */
export async function keepBytes<Result>(
  { core, accountId }: Pick<CallContext<ObjectServices>, 'core' | 'accountId'>,
  { source, bytes, algorithms = [], isUpTo = false }: IncomingBytes,
  use: (blob: WrittenBlob) => Promise<Result>,
): Promise<Result> {
  const blobId = newId('blb_');
  const pieces = newPieces(bytes);
  await beginBlob(core.db, { accountId, blobId, bytes: BigInt(bytes), pieces: packPieces(pieces) });
  try {
    const { pieces: written, ...digests } = await writePieces({ core, accountId }, pieces, source, {
      algorithms,
      isUpTo,
    });
    const length = written.reduce((sum, piece) => sum + piece.bytes, 0);
    if (length < bytes)
      await shortenBlob(core.db, { accountId, blobId, bytes: BigInt(length), pieces: packPieces(written) });
    return await use({ blobId, bytes: length, ...digests });
  } catch (error) {
    await removeBlob(core, accountId, blobId, 'writing').catch((err: unknown) => {
      core.log.warn({ err, blobId }, 'bytes that no object names could not be removed; the sweep will');
    });
    throw error;
  }
}

const beginBlob = together<NewBlob, void>(async (db, blobs) => {
  const { count } = await db.query(insertWriting, [
    accountsOf(blobs),
    textArray(blobs.map(({ accountId }) => accountId)),
    textArray(blobs.map(({ blobId }) => blobId)),
    int8Array(blobs.map(({ bytes }) => bytes)),
    byteaArray(blobs.map(({ pieces }) => pieces)),
    WRITING_MS,
  ]);
  if (count !== blobs.length) throw new Error(`${count} of ${blobs.length} blobs were begun`);
  return blobs.map(() => undefined);
});

export interface IncomingBytes {
  readonly source: AsyncIterable<Uint8Array>;
  /** As announced. */
  readonly bytes: number;
  /** They may be fewer. */
  readonly isUpTo?: boolean;
  readonly algorithms?: readonly ChecksumName[];
}

const updateWriting = statement(
  'storage_update_writing',
  `UPDATE storage.blob SET bytes = $3, pieces = $4 WHERE account_id = $1 AND blob_id = $2 AND state = 'writing'`,
);

async function shortenBlob(db: Queryable, { accountId, blobId, bytes, pieces }: NewBlob): Promise<void> {
  await db.query(updateWriting, [accountId, blobId, bytes, pieces]);
}

const markDead = statement(
  'storage_mark_dead',
  `UPDATE storage.blob SET state = 'dead', due_at = core.clock_now()
    WHERE account_id = $1 AND blob_id = $2 AND refs = 0 AND (state = $3 OR due_at <= core.clock_now()) RETURNING pieces`,
);
const deleteBlob = statement(
  'storage_delete_blob',
  `DELETE FROM storage.blob WHERE account_id = $1 AND blob_id = $2 AND state = 'dead'`,
);

/**
 * Removes the bytes of a blob that nothing names: one that is due, or one that is on its way in. It is marked under the lock of the wallet: a commit
 * that would make it live comes before, or finds it dead. Its row goes last.
 */
export async function removeBlob(
  { db, assets }: Pick<ObjectServices, 'db' | 'assets'>,
  accountId: string,
  blobId: string,
  state: 'due' | 'writing',
): Promise<void> {
  const pieces = await db.transaction(async (tx) => {
    await lockWallet(tx, accountId);
    const { rows } = await tx.query<{ pieces: Buffer }>(markDead, [accountId, blobId, state === 'due' ? null : state]);
    return rows[0] === undefined ? null : unpackPieces(rows[0].pieces);
  }, accountId);
  if (pieces === null) return;
  for (const piece of pieces) await assets.remove(assetKeyOf(accountId, piece));
  await db.query(deleteBlob, [accountId, blobId]);
}

export async function* ofBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

const selectManyPieces = statement(
  'storage_select_many_pieces',
  `SELECT b.blob_id, b.pieces FROM storage.blob b WHERE b.account_id = $1 AND b.blob_id = ANY($2::text[])`,
);

/** The pieces of several blobs, one behind the other, packed. Throws where one is gone. */
export async function packedPiecesOf(db: Queryable, accountId: string, blobIds: readonly string[]): Promise<Buffer> {
  const { rows } = await db.query<{ blob_id: string; pieces: Buffer }>(selectManyPieces, [
    accountId,
    textArray(blobIds),
  ]);
  const byId = new Map(rows.map((row) => [row.blob_id, row.pieces]));
  return Buffer.concat(
    blobIds.map((id) => {
      const pieces = byId.get(id);
      if (pieces === undefined)
        throw problem('STATE_CONFLICT', { message: 'A part was replaced meanwhile. Try again.' });
      return pieces;
    }),
  );
}
