// Vendors' bills, and the operator's losses on them: booked in the transaction that settles the work, by vendor, day and cause.

import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { startOfDay } from '../lib/time.ts';

/** Why nobody paid for what a vendor billed. */
export type LossCause =
  /** Whether the vendor worked was not known in time. */
  | 'outcome_unknown'
  /** What was made could not be delivered. */
  | 'unsound'
  /** It came after the deadline. */
  | 'late'
  | 'cancelled'
  /** The vendor billed more than was held. */
  | 'above_hold'
  /** The vendor billed what it says has failed. */
  | 'failed';

interface Bill {
  readonly accountId: string;
  readonly vendor: string;
  /** What the vendor is owed, nano-USD without markup. */
  readonly billedNanos: bigint;
}

export interface BillsOfDay {
  /** Epoch milliseconds of its start, UTC. */
  readonly dayMs: number;
  readonly vendor: string;
  readonly cause: 'sold' | LossCause;
  readonly bills: number;
  readonly billedNanos: bigint;
  readonly capturedNanos: bigint;
}

interface BillRow {
  readonly day: number;
  readonly vendor: string;
  readonly cause: BillsOfDay['cause'];
  readonly bills: bigint;
  readonly billed_nanos: bigint;
  readonly captured_nanos: bigint;
}

const addBill = statement(
  'vendor_add_bill',
  `INSERT INTO core.vendor_bill AS b (account_id, day, vendor, cause, bills, billed_nanos, captured_nanos)
   VALUES ($1, $2, $3, $4, 1, $5, $6)
       ON CONFLICT (account_id, day, vendor, cause) DO UPDATE
      SET bills = b.bills + 1, billed_nanos = b.billed_nanos + excluded.billed_nanos,
          captured_nanos = b.captured_nanos + excluded.captured_nanos`,
);
const selectBills = statement(
  'vendor_read_bills',
  `/* fan-out: the operator's costs, of all accounts */
   SELECT b.day, b.vendor, b.cause, sum(b.bills)::bigint AS bills, sum(b.billed_nanos)::bigint AS billed_nanos,
          sum(b.captured_nanos)::bigint AS captured_nanos
     FROM core.vendor_bill b
    WHERE b.day >= $1 AND ($2::text IS NULL OR b.vendor = $2::text)
    GROUP BY b.day, b.vendor, b.cause
    ORDER BY b.day DESC, b.vendor, b.cause`,
);

/** Work that a caller paid for. What was billed above it stands in the same row. */
export async function bookSale(tx: Queryable, bill: Bill & { readonly capturedNanos: bigint }, nowMs: number) {
  await book(tx, 'sold', bill, bill.capturedNanos, nowMs);
}

/** What nobody pays for. Nothing is booked for nothing. */
export async function bookLoss(
  tx: Queryable,
  bill: Bill & { readonly cause: LossCause },
  nowMs: number,
): Promise<void> {
  if (bill.billedNanos > 0n) await book(tx, bill.cause, bill, 0n, nowMs);
}

async function book(tx: Queryable, cause: BillsOfDay['cause'], bill: Bill, capturedNanos: bigint, nowMs: number) {
  const day = timestamp(startOfDay(nowMs));
  await tx.query(addBill, [bill.accountId, day, bill.vendor, cause, bill.billedNanos, capturedNanos]);
}

/** By day, newest first, vendor and cause. `vendor`: null for all. */
export async function readBills(db: Queryable, sinceMs: number, vendor: string | null): Promise<BillsOfDay[]> {
  const { rows } = await db.query<BillRow>(selectBills, [timestamp(startOfDay(sinceMs)), vendor]);
  return rows.map(({ day, bills, billed_nanos, captured_nanos, ...rest }) => ({
    ...rest,
    dayMs: day,
    bills: Number(bills),
    billedNanos: billed_nanos,
    capturedNanos: captured_nanos,
  }));
}
