// What is asked of a write before its bytes are taken in: they may be many. All of it is asked again in the commit.
import { statement } from '../../db/statement.ts';
import type { CallContext } from '../context.ts';
import { priceOfCall } from '../wallet/charge/charge.ts';
import { insufficientCredit } from '../wallet/lane/refusal.ts';
import { HELD_ID, quotaFault } from './held.ts';
import { bucketMissing, unpaid } from './object.ts';

interface DoorRow {
  readonly bytes: bigint;
  readonly unpaid_since: number | null;
  readonly left_nanos: bigint;
  readonly now: number;
}

const selectDoor = statement(
  'storage_select_door',
  `SELECT h.bytes, h.unpaid_since, w.balance_nanos - w.held_nanos AS left_nanos, core.clock_now() AS now
     FROM storage.bucket k
     JOIN storage.held h ON h.account_id = $1 AND h.held_id = '${HELD_ID}'
     JOIN core.wallet w ON w.account_id = $1
    WHERE k.account_id = $1 AND k.bucket = $2`,
);

/** Throws BUCKET_NOT_FOUND, INSUFFICIENT_CREDIT, QUOTA_EXCEEDED for what the commit would refuse after all bytes. */
export async function requireWritable(ctx: CallContext, bucket: string, bytes: number): Promise<void> {
  const { rows } = await ctx.core.db.query<DoorRow>(selectDoor, [ctx.accountId, bucket]);
  const [row] = rows;
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
