// Read of an object: its row, its price, and its bytes. A call looks the object up first and is charged then, so a missing key costs nothing.

import type { CallContext } from '../core/callers/context.ts';
import { type ChargedAnswer, chargeForWork } from '../core/wallet/charge/charge.ts';
import type { LaneEffect } from '../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../core/wallet/ledger/accepted-units.ts';
import { byteaArray, textArray } from '../db/arrays.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { ObjectServices } from './door.ts';
import { HELD_ID } from './held.ts';
import { bucketMissing, OBJECT_COLUMNS, type ObjectRow, objectMissing, unpaid } from './object.ts';
import { readPieces, unpackPieces } from './pieces.ts';
import { accountsOf, type ObjectRef } from './store.ts';
import { together } from './together.ts';

interface FoundRow {
  readonly n: bigint;
  readonly unpaid_since: number | null;
  readonly pieces: Buffer | null;
}

const selectFound = statement(
  'storage_select_found',
  `SELECT u.n, h.unpaid_since, b.pieces, ${OBJECT_COLUMNS}
     FROM unnest($2::text[], $3::text[], $4::bytea[]) WITH ORDINALITY u(account_id, bucket, key, n)
     JOIN storage.bucket k ON k.account_id = ANY($1::text[]) AND k.account_id = u.account_id AND k.bucket = u.bucket
     JOIN storage.held h ON h.account_id = ANY($1::text[]) AND h.account_id = u.account_id AND h.held_id = '${HELD_ID}'
     LEFT JOIN storage.object o
            ON o.account_id = ANY($1::text[]) AND o.account_id = u.account_id AND o.bucket = u.bucket AND o.key = u.key
     LEFT JOIN storage.blob b ON b.account_id = ANY($1::text[]) AND b.account_id = o.account_id AND b.blob_id = o.blob_id`,
);

async function readFound(db: Queryable, refs: readonly ObjectRef[]): Promise<readonly (Found | undefined)[]> {
  const { rows } = await db.query<Found>(selectFound, [
    accountsOf(refs),
    textArray(refs.map(({ accountId }) => accountId)),
    textArray(refs.map(({ bucket }) => bucket)),
    byteaArray(refs.map(({ key }) => key)),
  ]);
  const found = new Map(rows.map((row) => [Number(row.n), row]));
  return refs.map((_, i) => found.get(i + 1));
}

type Found = FoundRow & ObjectRow;
const findTogether = together<ObjectRef, Found | undefined>((db, refs) => readFound(db.hot, refs));

export interface FoundObject {
  readonly row: ObjectRow;
  /** The bytes from `start` to `end`, both included. */
  open(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** What it is kept in, in order: of an upload, its parts. */
  readonly pieceBytes: readonly number[];
}

/** `mustBePaid`: what is not paid for may be looked at, but not read. `at`: before the names of its fields. Throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, INSUFFICIENT_CREDIT. */
export async function findObject(
  { core, accountId }: Pick<CallContext<ObjectServices>, 'core' | 'accountId'>,
  { bucket, key }: Omit<ObjectRef, 'accountId'>,
  { mustBePaid = true, tx = null as Queryable | null, at = '' } = {},
): Promise<FoundObject> {
  const ref = { accountId, bucket, key };
  const found = tx === null ? await findTogether(core.db, ref) : (await readFound(tx, [ref]))[0];
  if (found === undefined) throw bucketMissing(`${at}bucket`);
  if (found.key === null) throw objectMissing(`${at}key`);
  if (mustBePaid && found.unpaid_since !== null) throw unpaid();
  const pieces = unpackPieces(found.pieces ?? Buffer.alloc(0));
  const open = (start: number, end: number) => readPieces({ core, accountId }, pieces, start, end);
  return { row: found, open, pieceBytes: pieces.map(({ bytes }) => bytes) };
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
export function chargeRead(ctx: CallContext<ObjectServices>, work: () => Promise<string>): Promise<ChargedAnswer> {
  return chargeForWork(ctx, { units: 1n, effect: readEffect, sequences: 0, bytes: BYTES_BESIDE, rows: 0 }, false, work);
}
