// Objects go: their rows, what buckets count and what the account holds, in one transaction under the lock of the wallet. Deleting is free.
import { byteaArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { type Notify, StorageChanges } from './changes.ts';
import { type Conditions, writeFault } from './conditions.ts';
import { readHeld } from './held.ts';
import { bucketMissing, OBJECT_COLUMNS, type ObjectRow } from './object.ts';
import { accountsOf, bucketId, readBuckets } from './store.ts';

const selectKeys = statement(
  'storage_select_keys',
  `SELECT ${OBJECT_COLUMNS} FROM storage.object o WHERE o.account_id = $1 AND o.bucket = $2 AND o.key = ANY($3::bytea[])`,
);
const deleteKeys = statement(
  'storage_delete_keys',
  'DELETE FROM storage.object o WHERE o.account_id = $1 AND o.bucket = $2 AND o.key = ANY($3::bytea[])',
);

export interface Removal {
  readonly accountId: string;
  readonly bucket: string;
  readonly keys: readonly Buffer[];
  /** Who is told to have done it; null: time has. */
  readonly keyId: string | null;
  readonly conditions?: Conditions;
  /** Removes only what was written up to then. */
  readonly writtenUpToMs?: number;
}

/** Removes what is there of the keys; answers how many there were. Throws BUCKET_NOT_FOUND, PRECONDITION_FAILED. */
export async function removeObjects(tx: Transaction, removal: Removal, nowMs: number): Promise<number> {
  const { accountId, bucket, conditions = {}, writtenUpToMs = Number.POSITIVE_INFINITY } = removal;
  const keys = [...new Map(removal.keys.map((key) => [key.toString('latin1'), key])).values()];
  const [buckets, found, held] = await Promise.all([
    readBuckets(tx, [{ accountId, bucket }]),
    readKeys(tx, accountId, bucket, keys),
    readHeld(tx, accountsOf([{ accountId }])),
  ]);
  const notify = buckets.get(bucketId({ accountId, bucket }));
  const row = held.get(accountId);
  if (notify === undefined || row === undefined) throw bucketMissing();
  const objects = found.filter(({ updated_at }) => updated_at <= writtenUpToMs);
  if (keys.length === 1) {
    const fault = writeFault(conditions, objects[0] ?? null);
    if (fault !== null) throw fault;
  }
  if (objects.length === 0) return 0;
  const changes = collect(objects, notify, removal.keyId ?? row.key_id);
  const bytes = objects.reduce((sum, object) => sum + object.bytes, 0n);
  changes.held(row, -bytes, removal.keyId ?? row.key_id);
  changes.send(tx, nowMs);
  await tx.query(deleteKeys, [accountId, bucket, byteaArray(objects.map(({ key }) => key))]);
  return objects.length;
}

async function readKeys(
  db: Queryable,
  accountId: string,
  bucket: string,
  keys: readonly Buffer[],
): Promise<readonly ObjectRow[]> {
  return (await db.query<ObjectRow>(selectKeys, [accountId, bucket, byteaArray(keys)])).rows;
}

function collect(objects: readonly ObjectRow[], notify: Notify | null, keyId: string): StorageChanges {
  const changes = new StorageChanges();
  for (const object of objects) {
    changes.refs(object.account_id, object.blob_id, -1);
    changes.bucket(object.account_id, object.bucket, -1, -object.bytes);
    changes.notice(object.account_id, keyId, notify, { kind: 'deleted', ...object });
  }
  return changes;
}
