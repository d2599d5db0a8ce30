// What went back of a payment, as the provider shows it, made true in the wallet. Under the lock of the wallet, once for each refund and
// dispute, in whatever order and however often they are seen. It is taken where the credit is: in the account that was credited, or, when
// that went over into another, there.
import type { Database, Transaction } from '../../../db/database.ts';
import { usd } from '../../../lib/money.ts';
import type { DisputeState, PaymentState, RefundState } from '../../../vendors/payments/port.ts';
import { lockAccount } from '../../accounts/accounts.ts';
import { departureOf } from '../../people/absorbing/store.ts';
import { nanosGoingBack, type Returned } from '../money.ts';
import { type ClawbackRow, clawbacksOf, findAbsorbedGrant } from './store.ts';
import { keepTaken, type NewClawback, type OwnGrant, restore, takeBack } from './take-back.ts';

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
  /** What was taken of the payment in the accounts before. */
  readonly taken: readonly ClawbackRow[];
}

type Seen = Pick<PaymentState, 'refunds' | 'disputes'>;
type Followed = { readonly returns: Returns; readonly elsewhere: null } | { readonly elsewhere: Elsewhere };

/** `payment` is read under the lock of its account. When its credit is elsewhere nothing new is taken: followElsewhere is to come. */
export async function followReturns(tx: Transaction, payment: Credited, seen: Seen): Promise<Followed> {
  const { account_id: accountId, grant_id: grantId, test_mode: testMode, credited_at } = payment;
  const own: OwnGrant = { grantId, earlierId: grantId, testMode };
  return followAt(tx, payment, seen, { accountId, sinceMs: credited_at - 1, own, taken: [] });
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
    const grantId = await findAbsorbedGrant(tx, accountId, earlierId);
    return followAt(tx, payment, seen, { ...elsewhere, own: { grantId, earlierId, testMode: payment.test_mode } });
  });
  return followed.elsewhere === null ? followed.returns : followElsewhere(db, payment, seen, followed.elsewhere);
}

/** An account on the way of the credit, under its lock. */
interface Place extends Pick<Elsewhere, 'accountId' | 'sinceMs' | 'taken'> {
  readonly own: OwnGrant;
}

async function followAt(tx: Transaction, payment: Credited, seen: Seen, place: Place): Promise<Followed> {
  const { accountId, own, taken } = place;
  const before = await clawbacksOf(tx, accountId, payment.source_id);
  for (const refund of seen.refunds) await settleRefund(tx, before, refund, own);
  for (const dispute of seen.disputes) await settleDispute(tx, before, dispute, own);
  const departure = await departureOf(tx, accountId, place.sinceMs);
  if (departure === null) await takeUnseen(tx, payment, seen, place);
  const rows = [...taken, ...(await clawbacksOf(tx, accountId, payment.source_id))];
  if (departure === null) return { returns: returnsOf(rows), elsewhere: null };
  const earlierId = own.grantId ?? own.earlierId;
  return { elsewhere: { accountId: departure.into, sinceMs: departure.atMs, earlierId, taken: rows } };
}

function isOf({ clawback_id }: ClawbackRow, { id = null, ref }: { readonly id?: string | null; readonly ref: string }) {
  return clawback_id === ref || clawback_id === id;
}

async function settleRefund(tx: Transaction, rows: readonly ClawbackRow[], refund: RefundState, own: OwnGrant) {
  const row = rows.find((each) => isOf(each, refund));
  if (row === undefined) return;
  // A refund may bounce after it had succeeded.
  if (refund.status === 'failed' && row.status !== 'restored') await restore(tx, row, own, 'refund_failed');
  else if (refund.status === 'succeeded' && row.status === 'pending') await keepTaken(tx, row);
}

async function settleDispute(tx: Transaction, rows: readonly ClawbackRow[], dispute: DisputeState, own: OwnGrant) {
  const row = rows.find((each) => isOf(each, dispute));
  if (row === undefined) return;
  if (row.status !== 'restored' && dispute.status === 'won') await restore(tx, row, own, null);
  else if (row.status === 'pending' && dispute.status === 'lost') await keepTaken(tx, row);
}

async function takeUnseen(tx: Transaction, payment: Credited, { refunds, disputes }: Seen, place: Place) {
  const going = [
    ...refunds.filter(({ status }) => status !== 'failed').map((each) => ({ ...each, kind: 'refund' as const })),
    ...disputes.filter(({ status }) => status !== 'won').map((each) => ({ ...each, kind: 'dispute' as const })),
  ];
  for (const each of going) {
    const rows = [...place.taken, ...(await clawbacksOf(tx, place.accountId, payment.source_id))];
    if (rows.some((row) => isOf(row, each))) continue;
    const { source, source_id } = payment;
    const clawback: NewClawback = {
      ...{ account_id: place.accountId, clawback_id: each.ref, source, source_id, kind: each.kind, is_ours: false },
      status: each.status === 'succeeded' || each.status === 'lost' ? 'done' : 'pending',
      amount_nanos: nanosGoingBack(returnedOf(payment, rows), BigInt(each.amountMinor)),
      amount_minor: BigInt(each.amountMinor),
    };
    await takeBack(tx, clawback, place.own);
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
