// Applies a payment's refunds and disputes, as the provider shows them, to the wallet. Under the wallet's lock, each is applied once, in
// any order and however often it is seen. The credit is taken from the account that was credited or, if that was merged into another, from
// that one.

import { lockAccount } from '../../core/callers/lock.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { usd } from '../../lib/money.ts';
import { departureOf } from '../../people/absorbing/store.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { nanosGoingBack, type Returned } from '../money.ts';
import { type ClawbackRow, clawbacksOf, findGrantFor, settleClawback } from './store.ts';
import { giveBack, keepTaken, type NewClawback, type OwnGrant, restore, takeBack } from './take-back.ts';

/** A payment that was credited. */
export interface Credited extends Pick<ClawbackRow, 'account_id' | 'source' | 'source_id'> {
  readonly amount_nanos: bigint;
  readonly charge_minor: bigint;
  readonly test_mode: boolean;
  readonly grant_id: string;
  readonly credited_at: number;
}

/** What went back of it, as its row shows it. */
export interface Returns {
  readonly refunded_nanos: bigint;
  readonly dispute_status: 'open' | 'won' | 'lost' | null;
  readonly dispute_nanos: bigint;
  readonly return_open: boolean;
}

/** An account that the credit went over into. */
export interface Elsewhere {
  readonly accountId: string;
  readonly sinceMs: number;
  /** Of the payment's own grant in the account before. */
  readonly earlierId: string;
  /** What was taken of the payment in the accounts before; what came back since as restored. */
  readonly taken: readonly ClawbackRow[];
  /** Of that, what came back after the credit had gone: to be given where that is now. */
  readonly cameBack: readonly CameBack[];
}

interface CameBack {
  readonly row: ClawbackRow;
  /** Somebody has given it, and died before he wrote it down. */
  readonly isGiven: boolean;
}

type Seen = Pick<PaymentState, 'refunds' | 'disputes'>;
type Followed = { readonly returns: Returns; readonly elsewhere: null } | { readonly elsewhere: Elsewhere };

/** `payment` is read under the lock of its account. When its credit is elsewhere nothing new is taken: followElsewhere is to come. */
export async function followReturns(tx: Transaction, payment: Credited, seen: Seen): Promise<Followed> {
  const { account_id: accountId, grant_id: grantId, test_mode: testMode, credited_at } = payment;
  const own: OwnGrant = { grantId, earlierId: grantId, testMode };
  return followAt(tx, payment, seen, { accountId, sinceMs: credited_at - 1, own, taken: [], cameBack: [] });
}

/** From account to account to where the credit is: a transaction for each. */
export async function followElsewhere(
  db: Database,
  payment: Credited,
  seen: Seen,
  elsewhere: Elsewhere,
): Promise<Returns> {
  const followed = await db.transaction(async (tx) => {
    const { accountId, earlierId } = elsewhere;
    if ((await lockAccount(tx, accountId)) === null) throw new Error(`account ${accountId} has no wallet`);
    const grantId = await findGrantFor(tx, accountId, 'absorption', earlierId);
    return followAt(tx, payment, seen, { ...elsewhere, own: { grantId, earlierId, testMode: payment.test_mode } });
  });
  if (followed.elsewhere !== null) return followElsewhere(db, payment, seen, followed.elsewhere);
  for (const { row } of elsewhere.cameBack)
    await db.transaction(async (tx) => {
      const nowMs = await lockAccount(tx, row.account_id);
      if (nowMs !== null)
        await settleClawback(tx, row, { status: 'restored', forgivenNanos: 0n, failureCode: null }, nowMs);
    });
  return followed.returns;
}

/** An account on the way of the credit, under its lock. */
interface StopOver extends Pick<Elsewhere, 'accountId' | 'sinceMs' | 'taken' | 'cameBack'> {
  readonly own: OwnGrant;
}

async function followAt(tx: Transaction, payment: Credited, seen: Seen, stop: StopOver): Promise<Followed> {
  const { accountId, own } = stop;
  const here = await clawbacksOf(tx, accountId, payment.source_id);
  const earlier = await lookForGiven(tx, stop);
  const departure = await departureOf(tx, accountId, stop.sinceMs);
  if (departure !== null) {
    const cameBack = [...earlier, ...here.filter((row) => isBack(row, seen)).map((row) => ({ row, isGiven: false }))];
    const rows = here.map((row) => (isBack(row, seen) ? { ...row, status: 'restored' as const } : row));
    const way = { accountId: departure.into, sinceMs: departure.atMs, earlierId: own.grantId ?? own.earlierId };
    return { elsewhere: { ...way, taken: [...stop.taken, ...rows], cameBack } };
  }
  for (const row of here) await settle(tx, row, seen, own);
  for (const { row, isGiven } of earlier) if (!isGiven) await giveBack(tx, accountId, row, own.testMode);
  await takeUnseen(tx, payment, seen, stop);
  return {
    returns: returnsOf([...stop.taken, ...(await clawbacksOf(tx, accountId, payment.source_id))]),
    elsewhere: null,
  };
}

async function lookForGiven(tx: Transaction, { accountId, cameBack }: StopOver): Promise<CameBack[]> {
  const looked: CameBack[] = [];
  for (const { row, isGiven } of cameBack)
    looked.push({ row, isGiven: isGiven || (await findGrantFor(tx, accountId, 'restored', row.clawback_id)) !== null });
  return looked;
}

function isOf({ clawback_id }: ClawbackRow, { id = null, ref }: { readonly id?: string | null; readonly ref: string }) {
  return clawback_id === ref || clawback_id === id;
}

/** Whether what was taken is to be given back. A refund may bounce after it had succeeded. */
function isBack(row: ClawbackRow, { refunds, disputes }: Seen): boolean {
  if (row.status === 'restored') return false;
  const isFailed = refunds.some((refund) => isOf(row, refund) && refund.status === 'failed');
  return isFailed || disputes.some((dispute) => isOf(row, dispute) && dispute.status === 'won');
}

async function settle(tx: Transaction, row: ClawbackRow, seen: Seen, own: OwnGrant): Promise<void> {
  if (isBack(row, seen)) return restore(tx, row, own, row.kind === 'refund' ? 'refund_failed' : null);
  const isGone =
    seen.refunds.some((refund) => isOf(row, refund) && refund.status === 'succeeded') ||
    seen.disputes.some((dispute) => isOf(row, dispute) && dispute.status === 'lost');
  if (row.status === 'pending' && isGone) await keepTaken(tx, row);
}

async function takeUnseen(tx: Transaction, payment: Credited, { refunds, disputes }: Seen, stop: StopOver) {
  const going = [
    ...refunds.filter(({ status }) => status !== 'failed').map((each) => ({ ...each, kind: 'refund' as const })),
    ...disputes.filter(({ status }) => status !== 'won').map((each) => ({ ...each, kind: 'dispute' as const })),
  ];
  for (const each of going) {
    const rows = [...stop.taken, ...(await clawbacksOf(tx, stop.accountId, payment.source_id))];
    if (rows.some((row) => isOf(row, each))) continue;
    const { source, source_id } = payment;
    const clawback: NewClawback = {
      account_id: stop.accountId,
      clawback_id: each.ref,
      source,
      source_id,
      kind: each.kind,
      is_ours: false,
      status: each.status === 'succeeded' || each.status === 'lost' ? 'done' : 'pending',
      amount_nanos: nanosGoingBack(returnedOf(payment, rows), BigInt(each.amountMinor)),
      amount_minor: BigInt(each.amountMinor),
    };
    await takeBack(tx, clawback, stop.own);
  }
}

/** What went back of a payment, by all its rows. */
export function returnsOf(rows: readonly ClawbackRow[]): Returns {
  const refunded = rows.filter(({ kind, status }) => kind === 'refund' && status !== 'restored');
  const dispute = rows.findLast(({ kind }) => kind === 'dispute');
  const shown = { pending: 'open', done: 'lost', restored: 'won' } as const;
  return {
    refunded_nanos: refunded.reduce((sum, row) => sum + row.amount_nanos, 0n),
    dispute_status: dispute === undefined ? null : shown[dispute.status],
    dispute_nanos: dispute?.amount_nanos ?? 0n,
    return_open: rows.some(({ status }) => status === 'pending'),
  };
}

/** As calls and events show it. */
export function disputeOf({ dispute_status: status, dispute_nanos }: Returns) {
  return status === null ? null : { status, amount_usd: usd(dispute_nanos) };
}

/** What has gone back so far. */
export function returnedOf(
  payment: Pick<Credited, 'amount_nanos' | 'charge_minor'>,
  rows: readonly ClawbackRow[],
): Returned {
  const live = rows.filter(({ status }) => status !== 'restored');
  return {
    amountNanos: payment.amount_nanos,
    chargeMinor: payment.charge_minor,
    backNanos: live.reduce((sum, row) => sum + row.amount_nanos, 0n),
    backMinor: live.reduce((sum, row) => sum + row.amount_minor, 0n),
  };
}
