// Blobs on their way in: their row comes first, so that what a crash leaves is found by it.
import { textArray } from '../../db/arrays.ts';
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../lib/ids.ts';
import { problem } from '../../problems/problem.ts';
import type { CallContext } from '../context.ts';
import type { ChecksumName } from '../credentials/aws-checksums.ts';
import { WRITING_MS } from './limits.ts';
import { type Digests, newPieces, type Piece, packPieces, unpackPieces, writePieces } from './pieces.ts';

/** Bytes that are kept and that nothing names yet. */
export interface WrittenBlob extends Digests {
  readonly blobId: string;
  readonly bytes: number;
}

const insertWriting = statement(
  'storage_insert_writing',
  `INSERT INTO storage.blob (account_id, blob_id, state, refs, bytes, pieces, due_at)
   VALUES ($1, $2, 'writing', 0, $3, $4, core.clock_now() + $5 * interval '1 millisecond')`,
);
const selectPieces = statement(
  'storage_select_pieces',
  'SELECT b.pieces FROM storage.blob b WHERE b.account_id = $1 AND b.blob_id = $2',
);

/**
 * Keeps the bytes of a source for good, in a blob that the commit of an object or a part makes live; without one it is removed after a day. `bytes`:
 * as announced. Throws INVALID_REQUEST for a source of another length, and SERVICE_UNAVAILABLE.
 */
export async function writeBlob(
  { core, accountId }: Pick<CallContext, 'core' | 'accountId'>,
  source: AsyncIterable<Uint8Array>,
  bytes: number,
  algorithms: readonly ChecksumName[] = [],
): Promise<WrittenBlob> {
  const blobId = newId('blb_');
  const pieces = newPieces(bytes);
  await core.db.query(insertWriting, [accountId, blobId, bytes, packPieces(pieces), WRITING_MS]);
  const digests = await writePieces({ core, accountId }, pieces, source, algorithms);
  return { blobId, bytes, ...digests };
}

export async function* ofBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** Where the bytes of a blob are; null: it is gone. */
export async function piecesOf(db: Queryable, accountId: string, blobId: string): Promise<Piece[] | null> {
  const { rows } = await db.query<{ pieces: Buffer }>(selectPieces, [accountId, blobId]);
  const [row] = rows;
  return row === undefined ? null : unpackPieces(row.pieces);
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
