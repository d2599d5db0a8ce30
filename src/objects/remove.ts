// Removal of objects: their rows, bucket counters and the account's stored bytes change in one transaction under the wallet's lock. Deleting
// is free.
import { byteaArray } from '../db/arrays.ts';
import type { Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { Problem } from '../problems/problem.ts';
import { type Notify, StorageChanges } from './changes.ts';
import { type RemovalConditions, removalFault } from './conditions.ts';
import { type HeldRow, readHeld } from './held.ts';
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
  /** Who is told to have done it; null: time has. */
  readonly keyId: string | null;
}

export interface RemovalOfKeys extends Removal {
  readonly keys: readonly Buffer[];
  /** Removes only what was written up to then. */
  readonly writtenUpToMs?: number;
}

/** Removes what is there of the keys; answers how many there were. Throws BUCKET_NOT_FOUND. */
export async function removeObjects(tx: Transaction, removal: RemovalOfKeys, nowMs: number): Promise<number> {
  const { keys, writtenUpToMs = Number.POSITIVE_INFINITY } = removal;
  const found = await readFound(tx, removal, keys);
  const objects = found.objects.filter(({ updated_at }) => updated_at <= writtenUpToMs);
  await removeFound(tx, removal, { ...found, objects }, nowMs);
  return objects.length;
}

export interface ConditionalRemoval extends Removal {
  readonly asked: readonly { readonly key: Buffer; readonly conditions: RemovalConditions }[];
}

/**
 * Removes the objects whose conditions hold, and no other. Answers for each that is asked for why it is not removed; null: it is, or there was none.
 * Throws BUCKET_NOT_FOUND.
 */
export async function removeMatching(
  tx: Transaction,
  removal: ConditionalRemoval,
  nowMs: number,
): Promise<readonly (Problem | null)[]> {
  const { asked } = removal;
  const found = await readFound(
    tx,
    removal,
    asked.map(({ key }) => key),
  );
  const present = new Map(found.objects.map((object) => [nameOf(object.key), object]));
  const faults = asked.map(({ key, conditions }) => removalFault(conditions, present.get(nameOf(key)) ?? null));
  const removed = new Set(asked.filter((_, i) => faults[i] === null).map(({ key }) => nameOf(key)));
  const objects = found.objects.filter(({ key }) => removed.has(nameOf(key)));
  await removeFound(tx, removal, { ...found, objects }, nowMs);
  return faults;
}

/** Byte for byte. */
const nameOf = (key: Buffer) => key.toString('latin1');

interface Found {
  readonly notify: Notify | null;
  readonly held: HeldRow;
  readonly objects: readonly ObjectRow[];
}

async function readFound(tx: Transaction, { accountId, bucket }: Removal, keys: readonly Buffer[]): Promise<Found> {
  const unique = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
  const [buckets, objects, rows] = await Promise.all([
    readBuckets(tx, [{ accountId, bucket }]),
    readKeys(tx, accountId, bucket, unique),
    readHeld(tx, accountsOf([{ accountId }])),
  ]);
  const notify = buckets.get(bucketId({ accountId, bucket }));
  const held = rows.get(accountId);
  if (notify === undefined || held === undefined) throw bucketMissing();
  return { notify, held, objects };
}

async function removeFound(
  tx: Transaction,
  { accountId, bucket, keyId }: Removal,
  { notify, held, objects }: Found,
  nowMs: number,
): Promise<void> {
  if (objects.length === 0) return;
  const changes = collect(objects, notify, keyId ?? held.key_id);
  const bytes = objects.reduce((sum, object) => sum + object.bytes, 0n);
  changes.changeHeld(held, -bytes, keyId ?? held.key_id);
  changes.send(tx, nowMs);
  await tx.query(deleteKeys, [accountId, bucket, byteaArray(objects.map(({ key }) => key))]);
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
