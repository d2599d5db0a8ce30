// What went back of a payment, as the provider shows it, made true in the wallet. Under the lock of the wallet, once for each refund and
// dispute, in whatever order and however often they are seen.
import type { Transaction } from '../../../db/database.ts';
import type { DisputeState, PaymentState, RefundState } from '../../../vendors/payments/port.ts';
import { nanosGoingBack, type Returned } from '../money.ts';
import type { TopupRow } from '../topups/store.ts';
import { type ClawbackRow, clawbacksOf } from './store.ts';
import { keepTaken, type NewClawback, restore, takeBack } from './take-back.ts';

type Credited = TopupRow & { readonly grant_id: string };

/** Answers the top-up with its refunds and newest dispute. `topup` is credited, and read under the lock. */
export async function followReturns(
  tx: Transaction,
  topup: Credited,
  { refunds, disputes }: Pick<PaymentState, 'refunds' | 'disputes'>,
): Promise<TopupRow> {
  for (const refund of refunds) await followRefund(tx, topup, refund);
  for (const dispute of disputes) await followDispute(tx, topup, dispute);
  return withReturns(tx, topup);
}

/** The top-up with what its rows say went back. */
export async function withReturns(tx: Transaction, topup: TopupRow): Promise<TopupRow> {
  const rows = await clawbacksOf(tx, topup.account_id, topup.topup_id);
  const refunded = rows.filter(({ kind, status }) => kind === 'refund' && status !== 'restored');
  const dispute = rows.findLast(({ kind }) => kind === 'dispute');
  const shown = { pending: 'open', done: 'lost', restored: 'won' } as const;
  return {
    ...topup,
    refunded_nanos: refunded.reduce((sum, row) => sum + row.amount_nanos, 0n),
    dispute_status: dispute === undefined ? null : shown[dispute.status],
    dispute_nanos: dispute?.amount_nanos ?? 0n,
    return_open: rows.some(({ status }) => status === 'pending'),
  };
}

/** What has gone back so far. */
export function returnedOf(topup: TopupRow, rows: readonly ClawbackRow[]): Returned {
  const live = rows.filter(({ status }) => status !== 'restored');
  return {
    amountNanos: topup.amount_nanos,
    chargeMinor: topup.charge_minor,
    backNanos: live.reduce((sum, row) => sum + row.amount_nanos, 0n),
    backMinor: live.reduce((sum, row) => sum + row.amount_minor, 0n),
  };
}

async function followRefund(tx: Transaction, topup: Credited, refund: RefundState): Promise<void> {
  const rows = await clawbacksOf(tx, topup.account_id, topup.topup_id);
  const row = rows.find(({ clawback_id }) => clawback_id === (refund.id ?? refund.ref) || clawback_id === refund.ref);
  if (row === undefined) {
    if (refund.status === 'failed') return;
    await takeBack(tx, newClawback(topup, rows, 'refund', refund, refund.status === 'succeeded'), topup.grant_id);
  } else if (refund.status === 'failed' && row.status !== 'restored') {
    // A refund may bounce after it had succeeded.
    await restore(tx, row, topup.grant_id, 'refund_failed');
  } else if (refund.status === 'succeeded' && row.status === 'pending') await keepTaken(tx, row);
}

async function followDispute(tx: Transaction, topup: Credited, dispute: DisputeState): Promise<void> {
  const rows = await clawbacksOf(tx, topup.account_id, topup.topup_id);
  const row = rows.find(({ clawback_id }) => clawback_id === dispute.ref);
  if (row === undefined) {
    if (dispute.status === 'won') return;
    await takeBack(tx, newClawback(topup, rows, 'dispute', dispute, dispute.status === 'lost'), topup.grant_id);
  } else if (row.status !== 'restored' && dispute.status === 'won') await restore(tx, row, topup.grant_id, null);
  else if (row.status === 'pending' && dispute.status === 'lost') await keepTaken(tx, row);
}

function newClawback(
  topup: Credited,
  rows: readonly ClawbackRow[],
  kind: ClawbackRow['kind'],
  { ref, amountMinor }: { readonly ref: string; readonly amountMinor: number },
  isDone: boolean,
): NewClawback {
  return {
    account_id: topup.account_id,
    clawback_id: ref,
    topup_id: topup.topup_id,
    kind,
    status: isDone ? 'done' : 'pending',
    is_ours: false,
    amount_nanos: nanosGoingBack(returnedOf(topup, rows), BigInt(amountMinor)),
    amount_minor: BigInt(amountMinor),
  };
}
