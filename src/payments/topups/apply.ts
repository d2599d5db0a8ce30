// Applies the provider's answer about a top-up: the grant, its entry, the state and the event are one transaction under the wallet's
// lock. The first to apply it credits; a later one finds it credited, and the database refuses a second grant.

import { lockAccount } from '../../core/callers/lock.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { grantCredit } from '../../core/wallet/grants.ts';
import type { Transaction } from '../../db/database.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { type Elsewhere, followReturns, type Returns } from '../clawbacks/follow.ts';
import { keepMethod } from '../methods/store.ts';
import { keepNewRefs } from '../refs.ts';
import type { Payments } from '../terms.ts';
import { judge, nextCheckMs } from './judge.ts';
import { topupEventRecord } from './record.ts';
import { creditOf, findTopup, jobOf, saveTopup, type TopupRow, type TopupStatus, topupDue } from './store.ts';

const EVENTS: Readonly<Partial<Record<TopupStatus, string>>> = {
  succeeded: 'topup.succeeded',
  failed: 'topup.failed',
  expired: 'topup.failed',
  review: 'topup.review_started',
};

/** A top-up by its names, and the attempt that reads it; a hint meanwhile makes it due again, whatever this attempt writes. */
export interface TopupAttempt {
  readonly accountId: string;
  readonly id: string;
  readonly attempt: number;
}

export interface Applied {
  readonly topup: TopupRow;
  /** Its credit went over into another account, where its returns are to be followed; then it stays due. */
  readonly elsewhere: Elsewhere | null;
}

/**
 * Makes the top-up what its payment is. `payment` null: the provider does not know of one. Answers it afterwards; null: there is none.
 */
export async function applyPayment(
  tx: Transaction,
  { accountId, id, attempt }: TopupAttempt,
  payment: PaymentState | null,
  { reviewAboveNanos }: Payments,
): Promise<Applied | null> {
  const nowMs = await lockAccount(tx, accountId);
  const before = nowMs === null ? null : await findTopup(tx, accountId, id);
  if (nowMs === null || before === null) return null;
  const judgement = judge(before, payment, { nowMs, reviewAboveNanos });
  let after: TopupRow = {
    ...before,
    ...judgement,
    checkout_ref: before.checkout_ref ?? payment?.ref ?? null,
    payment_ref: payment?.paymentRef ?? before.payment_ref,
  };
  const known = [before.checkout_ref, before.payment_ref];
  await keepNewRefs(tx, [after.checkout_ref, after.payment_ref], known, { accountId, kind: 'topup', id });
  if (judgement.status === 'succeeded' && before.grant_id === null) after = await creditTopup(tx, after, nowMs);
  if (after.save_method && payment?.method != null && before.grant_id === null)
    await keepMethod(tx, accountId, payment.method, after, nowMs);
  const credit = payment === null ? null : creditOf(after);
  const followed = payment === null || credit === null ? null : await followReturns(tx, credit, payment);
  if (followed?.elsewhere === null) after = { ...after, ...followed.returns };
  const elsewhere = followed?.elsewhere ?? null;
  const decidedAtMs = payment?.decidedAtMs ?? null;
  return { topup: await write(tx, before, { ...after, attempt }, nowMs, elsewhere === null, decidedAtMs), elsewhere };
}

/** What went back of it, followed elsewhere. */
export async function applyReturns(
  tx: Transaction,
  { accountId, id, attempt }: TopupAttempt,
  returns: Returns,
): Promise<TopupRow | null> {
  const nowMs = await lockAccount(tx, accountId);
  const before = nowMs === null ? null : await findTopup(tx, accountId, id);
  if (nowMs === null || before === null) return null;
  return write(tx, before, { ...before, ...returns, attempt }, nowMs);
}

async function creditTopup(tx: Transaction, topup: TopupRow, nowMs: number): Promise<TopupRow> {
  const grantId = await grantCredit(tx, topup.account_id, {
    kind: 'paid',
    amountNanos: topup.amount_nanos,
    expiresInMs: null,
    note: `top-up ${topup.topup_id}`,
    source: { kind: 'topup', id: topup.topup_id },
    testMode: topup.test_mode,
  });
  return { ...topup, grant_id: grantId, credited_at: nowMs };
}

async function write(
  tx: Transaction,
  before: TopupRow,
  after: TopupRow,
  nowMs: number,
  isRead = true,
  decidedAtMs: number | null = null,
): Promise<TopupRow> {
  const saved = { ...after, updated_at: nowMs };
  const type = before.status === after.status ? undefined : EVENTS[after.status];
  const events = type === undefined ? [] : [eventOf(type, saved)];
  sendEvents(tx, events, nowMs);
  const byScheduleMs = nextCheckMs(saved, nowMs);
  const dueMs = decidedAtMs === null ? byScheduleMs : Math.min(decidedAtMs, byScheduleMs ?? decidedAtMs);
  await Promise.all([saveTopup(tx, saved), isRead ? topupDue.setDue(tx, jobOf(saved), dueMs) : null]);
  return saved;
}

function eventOf(type: string, topup: TopupRow) {
  return { accountId: topup.account_id, type, data: { object: topupEventRecord(topup) }, requestId: null };
}

/** The operator's word on one under review, read under the lock. */
export async function decide(
  tx: Transaction,
  topup: TopupRow,
  verdict: 'approved' | 'rejected',
  nowMs: number,
): Promise<TopupRow> {
  const judged: TopupRow =
    verdict === 'approved'
      ? { ...topup, review_verdict: verdict, status: 'succeeded' }
      : { ...topup, review_verdict: verdict, status: 'failed', failure_code: 'rejected' };
  return write(tx, topup, verdict === 'approved' ? await creditTopup(tx, judged, nowMs) : judged, nowMs);
}

/** A creation that brought no link: failed, in its own transaction. `again`: it may have been made all the same, and is looked for. */
export async function failCreation(
  tx: Transaction,
  topup: Pick<TopupRow, 'account_id' | 'topup_id'>,
  failureCode: string,
  again: boolean,
): Promise<void> {
  const nowMs = await lockAccount(tx, topup.account_id);
  const before = nowMs === null ? null : await findTopup(tx, topup.account_id, topup.topup_id);
  if (nowMs === null || before?.status !== 'pending' || before.checkout_ref !== null) return;
  const saved: TopupRow = { ...before, status: 'failed', failure_code: failureCode, updated_at: nowMs };
  sendEvents(tx, [eventOf('topup.failed', saved)], nowMs);
  await Promise.all([
    saveTopup(tx, saved),
    topupDue.setDue(tx, jobOf(saved), again ? nextCheckMs(saved, nowMs) : null),
  ]);
}
