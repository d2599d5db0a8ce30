// Checks of a write before its body is read, which may be long. The commit repeats all of them.

import type { AssetsPart } from '../assets/assets.ts';
import type { CallContext } from '../core/callers/context.ts';
import type { Core } from '../core/core.ts';
import type { WriteServices } from '../core/idempotency/write.ts';
import type { ChargeServices } from '../core/wallet/charge/charge.ts';
import { priceOfCall } from '../core/wallet/charge/charge.ts';
import { insufficientCredit } from '../core/wallet/lane/refusal.ts';
import { textArray } from '../db/arrays.ts';
import { statement } from '../db/statement.ts';
import { HELD_ID, quotaFault } from './held.ts';
import { bucketMissing, unpaid } from './object.ts';
import { accountsOf, type BucketRef } from './store.ts';
import { together } from './together.ts';

interface DoorRow {
  readonly n: bigint;
  readonly bytes: bigint;
  readonly unpaid_since: number | null;
  readonly left_nanos: bigint;
  readonly now: number;
}

/** The services that objects need. */
export type ObjectServices = AssetsPart & ChargeServices & WriteServices & Pick<Core, 'log'>;

const selectDoor = statement(
  'storage_select_door',
  `SELECT u.n, h.bytes, h.unpaid_since, w.balance_nanos - w.held_nanos AS left_nanos, core.clock_now() AS now
     FROM unnest($2::text[], $3::text[]) WITH ORDINALITY u(account_id, bucket, n), storage.bucket k, storage.held h, core.wallet w
    WHERE k.account_id = ANY($1::text[]) AND k.account_id = u.account_id AND k.bucket = u.bucket
      AND h.account_id = ANY($1::text[]) AND h.account_id = u.account_id AND h.held_id = '${HELD_ID}'
      AND w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** Undefined: there is no such bucket. */
const readDoor = together<BucketRef, DoorRow | undefined>(async (db, refs) => {
  const { rows } = await db.hot.query<DoorRow>(selectDoor, [
    accountsOf(refs),
    textArray(refs.map(({ accountId }) => accountId)),
    textArray(refs.map(({ bucket }) => bucket)),
  ]);
  const found = new Map(rows.map((row) => [Number(row.n), row]));
  return refs.map((_, i) => found.get(i + 1));
});

/** Throws BUCKET_NOT_FOUND, INSUFFICIENT_CREDIT, QUOTA_EXCEEDED for what the commit would refuse after all bytes. */
export async function requireWritable(ctx: CallContext<ObjectServices>, bucket: string, bytes: number): Promise<void> {
  const row = await readDoor(ctx.core.db, { accountId: ctx.accountId, bucket });
  if (row === undefined) throw bucketMissing();
  if (row.unpaid_since !== null) throw unpaid();
  const needed = priceOfCall(ctx, 1n);
  if (row.left_nanos < needed) {
    const refusal = { admitted: false, reason: 'balance', left: row.left_nanos, cap: null, endsAtMs: null } as const;
    throw insufficientCredit(refusal, needed, ctx.principal.scopes, row.now);
  }
  const full = quotaFault(row, BigInt(bytes), ctx.tier);
  if (full !== null) throw full;
}
