// Reading an object: its row, what it costs, and its bytes. A call looks first and is charged then, so a key that is not there costs nothing.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { CallContext } from '../context.ts';
import { type ChargedAnswer, chargeForWork } from '../wallet/charge/charge.ts';
import type { LaneEffect } from '../wallet/lane/lane-item.ts';
import { countAccepted } from '../wallet/ledger/accepted-units.ts';
import { HELD_ID } from './held.ts';
import { bucketMissing, OBJECT_COLUMNS, type ObjectRow, objectMissing, unpaid } from './object.ts';
import { readPieces, unpackPieces } from './pieces.ts';
import type { ObjectRef } from './store.ts';

interface FoundRow {
  readonly unpaid_since: number | null;
  readonly object: ObjectRow | null;
  readonly pieces: Buffer | null;
}

const selectObject = statement(
  'storage_select_object',
  `SELECT h.unpaid_since, b.pieces, ${OBJECT_COLUMNS}
     FROM storage.bucket k
     JOIN storage.held h ON h.account_id = $1 AND h.held_id = '${HELD_ID}'
     LEFT JOIN storage.object o ON o.account_id = $1 AND o.bucket = $2 AND o.key = $3
     LEFT JOIN storage.blob b ON b.account_id = $1 AND b.blob_id = o.blob_id
    WHERE k.account_id = $1 AND k.bucket = $2`,
);

export interface FoundObject {
  readonly row: ObjectRow;
  /** The bytes from `start` to `end`, both included. */
  open(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined>;
}

/** `mustBePaid`: what is not paid for may be looked at, but not read. `at`: before the names of its fields. Throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, INSUFFICIENT_CREDIT. */
export async function findObject(
  { core, accountId }: Pick<CallContext, 'core' | 'accountId'>,
  { bucket, key }: Omit<ObjectRef, 'accountId'>,
  { mustBePaid = true, db = core.db as Queryable, at = '' } = {},
): Promise<FoundObject> {
  const { rows } = await db.query<FoundRow & ObjectRow>(selectObject, [accountId, bucket, key]);
  const [found] = rows;
  if (found === undefined) throw bucketMissing(`${at}bucket`);
  if (found.key === null) throw objectMissing(`${at}key`);
  if (mustBePaid && found.unpaid_since !== null) throw unpaid();
  const pieces = unpackPieces(found.pieces ?? Buffer.alloc(0));
  return { row: found, open: (start, end) => readPieces({ core, accountId }, pieces, start, end) };
}

const readEffect: LaneEffect<string, null> = {
  name: 'storage.read',
  exclusiveKeys: () => [],
  read: async (_, items) => items.map(() => ({ kind: 'go', context: null })),
  write(tx, items) {
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return items.map(({ item }) => item.input);
  },
};

const BYTES_BESIDE = 256;

/** Charges a read whose answer is `work`, as JSON text: what fails costs nothing. */
export function chargeRead(ctx: CallContext, work: () => Promise<string>): Promise<ChargedAnswer> {
  return chargeForWork(ctx, { units: 1n, effect: readEffect, sequences: 0, bytes: BYTES_BESIDE, rows: 0 }, false, work);
}
