// Changes that a transaction makes besides the rows of objects: blob reference counts, bucket counters, the account's stored bytes, and
// notifications. They are collected while the objects are processed, and sent once for all of them.

import { openTurn } from '../core/background/turns.ts';
import { byteaArray, int4Array, int8Array, textArray, timestampArray } from '../db/arrays.ts';
import type { Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import { type HeldRow, sendHeld } from './held.ts';
import { DEAD_MS } from './limits.ts';

export const NOTICE_WORK = 'storage.notices';

export type ChangeKind = 'created' | 'deleted';

/** Whom a bucket tells of its objects. */
export interface Notify {
  readonly queue: string;
  readonly events: readonly ChangeKind[];
}

interface Changed {
  readonly kind: ChangeKind;
  readonly bucket: string;
  readonly key: Buffer;
  readonly bytes: bigint;
  readonly etag: string;
}

interface BucketChange {
  readonly accountId: string;
  readonly bucket: string;
  objects: number;
  bytes: bigint;
}

const changeRefs = statement(
  'storage_change_refs',
  `UPDATE storage.blob AS b
      SET refs = b.refs + u.added, state = CASE WHEN b.refs + u.added > 0 THEN 'live' ELSE 'dead' END,
          due_at = CASE WHEN b.refs + u.added > 0 THEN NULL ELSE $5::timestamptz END
     FROM unnest($2::text[], $3::text[], $4::integer[]) u(account_id, blob_id, added)
    WHERE b.account_id = ANY($1::text[]) AND b.account_id = u.account_id AND b.blob_id = u.blob_id`,
);
const countBuckets = statement(
  'storage_count_buckets',
  `UPDATE storage.bucket AS b SET object_count = b.object_count + u.objects, bytes = b.bytes + u.bytes
     FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) u(account_id, bucket, objects, bytes)
    WHERE b.account_id = ANY($1::text[]) AND b.account_id = u.account_id AND b.bucket = u.bucket`,
);
const insertNotices = statement(
  'storage_insert_notices',
  `INSERT INTO storage.notice AS n (account_id, notice_id, queue, payload, key_id, due_at)
   SELECT w.account_id, u.notice_id, u.queue, u.payload, u.key_id, u.due_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
          u(account_id, notice_id, queue, payload, key_id, due_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertBlobs = statement(
  'storage_insert_blobs',
  `INSERT INTO storage.blob AS b (account_id, blob_id, state, refs, bytes, pieces, part_checksums)
   SELECT w.account_id, u.blob_id, 'live', 1, u.bytes, u.pieces, u.part_checksums
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::bytea[])
          u(account_id, blob_id, bytes, pieces, part_checksums)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

export interface NewBlob {
  readonly accountId: string;
  readonly blobId: string;
  readonly bytes: bigint;
  readonly pieces: Buffer;
}

/** One of the parts of an upload, where they are. */
export interface JoinedBlob extends NewBlob {
  /** Of its parts, packed; null: they have none. */
  readonly partChecksums: Buffer | null;
}

export class StorageChanges {
  readonly #refs = new Map<string, { accountId: string; blobId: string; added: number }>();
  readonly #buckets = new Map<string, BucketChange>();
  readonly #held = new Map<string, { row: HeldRow; bytes: bigint; keyId: string }>();
  readonly #blobs: JoinedBlob[] = [];
  readonly #notices: { accountId: string; queue: string; keyId: string; changed: Changed }[] = [];

  /** Objects or parts more that hold the blob; the last one that lets it go leaves it to the sweep. */
  refs(accountId: string, blobId: string, added: number): void {
    const id = `${accountId}\n${blobId}`;
    const change = this.#refs.get(id) ?? { accountId, blobId, added: 0 };
    change.added += added;
    this.#refs.set(id, change);
  }

  /** A blob of pieces that are there, with one that holds it. */
  blob(blob: JoinedBlob): void {
    this.#blobs.push(blob);
  }

  bucket(accountId: string, bucket: string, objects: number, bytes: bigint): void {
    const id = `${accountId}\n${bucket}`;
    const change = this.#buckets.get(id) ?? { accountId, bucket, objects: 0, bytes: 0n };
    change.objects += objects;
    change.bytes += bytes;
    this.#buckets.set(id, change);
  }

  /** `row`: as it was read under the lock. */
  changeHeld(row: HeldRow, bytes: bigint, keyId: string): void {
    const change = this.#held.get(row.account_id) ?? { row, bytes: 0n, keyId };
    change.bytes += bytes;
    change.keyId = keyId;
    this.#held.set(row.account_id, change);
  }

  notice(accountId: string, keyId: string, notify: Notify | null, changed: Changed): void {
    if (notify?.events.includes(changed.kind)) this.#notices.push({ accountId, queue: notify.queue, keyId, changed });
  }

  /** What the account will hold more. */
  heldBytes(accountId: string): bigint {
    return this.#held.get(accountId)?.bytes ?? 0n;
  }

  send(tx: Transaction, nowMs: number): void {
    const refs = [...this.#refs.values()].filter(({ added }) => added !== 0).sort(byId);
    if (refs.length > 0) {
      void tx.query(changeRefs, [
        accountsOf(refs),
        textArray(refs.map(({ accountId }) => accountId)),
        textArray(refs.map(({ blobId }) => blobId)),
        int4Array(refs.map(({ added }) => added)),
        timestamp(nowMs + DEAD_MS),
      ]);
    }
    if (this.#blobs.length > 0) this.#sendBlobs(tx);
    const buckets = [...this.#buckets.values()].filter(({ objects, bytes }) => objects !== 0 || bytes !== 0n);
    if (buckets.length > 0) {
      void tx.query(countBuckets, [
        accountsOf(buckets),
        textArray(buckets.map(({ accountId }) => accountId)),
        textArray(buckets.map(({ bucket }) => bucket)),
        int8Array(buckets.map(({ objects }) => BigInt(objects))),
        int8Array(buckets.map(({ bytes }) => bytes)),
      ]);
    }
    const held = [...this.#held.values()].filter(({ bytes }) => bytes !== 0n);
    if (held.length > 0) sendHeld(tx, held, nowMs);
    if (this.#notices.length > 0) this.#sendNotices(tx, nowMs);
  }

  #sendBlobs(tx: Transaction): void {
    void tx.query(insertBlobs, [
      accountsOf(this.#blobs),
      textArray(this.#blobs.map(({ accountId }) => accountId)),
      textArray(this.#blobs.map(({ blobId }) => blobId)),
      int8Array(this.#blobs.map(({ bytes }) => bytes)),
      byteaArray(this.#blobs.map(({ pieces }) => pieces)),
      byteaArray(this.#blobs.map(({ partChecksums }) => partChecksums)),
    ]);
  }

  #sendNotices(tx: Transaction, nowMs: number): void {
    const notices = this.#notices;
    void tx.query(insertNotices, [
      accountsOf(notices),
      textArray(notices.map(({ accountId }) => accountId)),
      textArray(notices.map(() => newId('ntc_', nowMs))),
      textArray(notices.map(({ queue }) => queue)),
      textArray(notices.map(({ changed }) => noticeText(changed))),
      textArray(notices.map(({ keyId }) => keyId)),
      timestampArray(notices.map(() => nowMs)),
    ]);
    for (const accountId of new Set(notices.map((each) => each.accountId))) {
      void openTurn(tx, accountId, NOTICE_WORK, nowMs);
    }
  }
}

function noticeText({ kind, bucket, key, bytes, etag }: Changed): string {
  return JSON.stringify({ event: kind, bucket, key: key.toString('utf8'), bytes: Number(bytes), etag });
}

function accountsOf(rows: readonly { readonly accountId: string }[]): Buffer {
  return textArray([...new Set(rows.map(({ accountId }) => accountId))].sort());
}

/** In one order everywhere: two transactions never wait for each other. */
function byId(a: { readonly blobId: string }, b: { readonly blobId: string }): number {
  return a.blobId < b.blobId ? -1 : 1;
}
