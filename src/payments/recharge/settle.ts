// Applies the provider's answer about an attempt. Credit, state, event and the wallet's open-attempt field are one transaction under the
// wallet's lock. A second caller finds the attempt settled, and the database refuses a second grant.

import { openTurn } from '../../core/background/turns.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { grantCredit } from '../../core/wallet/grants.ts';
import { type OpenWallet, openWallet, saveWallet } from '../../core/wallet/open-wallet.ts';
import type { Transaction } from '../../db/database.ts';
import { usd } from '../../lib/money.ts';
import { iso, isoOrNull } from '../../lib/time.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { disputeOf } from '../clawbacks/follow.ts';
import { findMethod, removeMethod } from '../methods/store.ts';
import { minorOfNanos } from '../money.ts';
import { keepNewRefs } from '../refs.ts';
import { mailFailure } from './failure-mail.ts';
import { afterFailure, nextAskMs, nextReadMs } from './judge.ts';
import { type AttemptRow, findAttempt, findRecharge, type RechargeRow, saveAttempt, saveRecharge } from './store.ts';

/** Charges that were made, read again for what went back of them. */
export const RETURNS_WORK = 'payments.recharge_returns';

/** `silent`: it did not say; `none`: it never made the payment. */
export type Said = PaymentState | { readonly status: 'silent' } | { readonly status: 'none'; readonly code: string };

/** What is charged in US cents for an amount in whole cents. */
export function centsOf(amountNanos: bigint): number {
  return minorOfNanos(amountNanos, 10n ** 9n, 'USD');
}

/** Makes the attempt what the provider says it is. Answers it afterwards; null: there is none. */
export async function settleAttempt(
  tx: Transaction,
  accountId: string,
  attemptId: string,
  said: Said,
): Promise<AttemptRow | null> {
  const opened = await openWallet(tx, accountId);
  const before = opened === null ? null : await findAttempt(tx, accountId, attemptId);
  if (opened === null || before === null || before.status !== 'open') return before;
  const paymentRef = 'ref' in said && said.ref !== '' ? said.ref : before.payment_ref;
  const attempt: AttemptRow = { ...before, payment_ref: paymentRef };
  const refs = 'ref' in said ? [paymentRef, said.paymentRef] : [];
  await keepNewRefs(tx, refs, [before.payment_ref], { accountId, kind: 'recharge', id: attemptId });
  if (said.status === 'paid') return succeed(tx, opened, attempt, said);
  if (said.status === 'failed' || said.status === 'expired')
    return fail(tx, opened, attempt, said.failureCode ?? 'payment_failed');
  if (said.status === 'none') return fail(tx, opened, attempt, said.code);
  const dueMs = nextAskMs(attempt.tries, opened.nowMs);
  await saveAttempt(tx, attempt);
  await saveWallet(tx, opened, { ...opened.wallet, recharge_due_at: dueMs }, []);
  return attempt;
}

async function succeed(
  tx: Transaction,
  opened: OpenWallet,
  attempt: AttemptRow,
  { amountMinor, currency }: PaymentState,
): Promise<AttemptRow> {
  const { account_id: accountId, attempt_id } = attempt;
  if (currency !== 'USD' || amountMinor !== centsOf(attempt.amount_nanos))
    throw new Error(`the provider charged ${amountMinor} ${currency} for ${attempt_id}: nothing is credited`);
  await closeAttempt(tx, opened, null);
  const grantId = await grantCredit(tx, accountId, {
    kind: 'paid',
    amountNanos: attempt.amount_nanos,
    expiresInMs: null,
    note: `automatic recharge ${attempt_id}`,
    source: { kind: 'recharge', id: attempt_id },
    testMode: attempt.test_mode,
  });
  const settled: AttemptRow = { ...attempt, status: 'succeeded', grant_id: grantId, settled_at: opened.nowMs };
  const dueMs = nextReadMs(settled, opened.nowMs);
  await saveAttempt(tx, settled, dueMs);
  if (dueMs !== null) await openTurn(tx, accountId, RETURNS_WORK, dueMs, { later: true });
  const recharge = await findRecharge(tx, accountId);
  if (recharge !== null && recharge.failures > 0)
    await saveRecharge(tx, { ...recharge, failures: 0, retry_at: null }, opened.nowMs);
  tell(tx, 'autorecharge.charged', settled, {}, opened.nowMs);
  return settled;
}

async function fail(
  tx: Transaction,
  opened: OpenWallet,
  attempt: AttemptRow,
  failureCode: string,
): Promise<AttemptRow> {
  const { account_id: accountId, method_id } = attempt;
  const { nowMs } = opened;
  const settled: AttemptRow = { ...attempt, status: 'failed', failure_code: failureCode, settled_at: nowMs };
  const recharge = await findRecharge(tx, accountId);
  const after = recharge && afterFailure(recharge, failureCode, nowMs);
  await saveAttempt(tx, settled);
  if (after !== null) await saveRecharge(tx, after, nowMs);
  await closeAttempt(tx, opened, after);
  const method = failureCode === 'method_gone' ? await findMethod(tx, accountId, method_id) : null;
  // The provider does not have it any more.
  if (method !== null) await removeMethod(tx, method, nowMs);
  const willRetryAt = isoOrNull(after?.enabled ? after.retry_at : null);
  const next = {
    will_retry_at: willRetryAt,
    disabled_reason: after?.disabled_reason ?? null,
  };
  tell(tx, 'autorecharge.failed', settled, next, nowMs);
  await mailFailure(tx, settled, willRetryAt, nowMs);
  return settled;
}

/** Takes the attempt out of the wallet's row; disabled, its trigger too. `after` null: the configuration stays. */
async function closeAttempt(tx: Transaction, opened: OpenWallet, after: RechargeRow | null): Promise<void> {
  const { wallet } = opened;
  await saveWallet(
    tx,
    opened,
    {
      ...wallet,
      recharge_trigger_nanos: after?.enabled === false ? null : wallet.recharge_trigger_nanos,
      recharge_due_at: after?.retry_at ?? null,
      recharge_attempt_id: null,
    },
    [],
  );
}

function tell(tx: Transaction, type: string, attempt: AttemptRow, extras: object, nowMs: number): void {
  const object = { ...attemptRecord(attempt), payment_method_id: attempt.method_id, ...extras };
  sendEvents(tx, [{ accountId: attempt.account_id, type, data: { object }, requestId: null }], nowMs);
}

/** As calls and events show it. */
export function attemptRecord(attempt: AttemptRow) {
  return {
    attempt_id: attempt.attempt_id,
    status: attempt.status === 'open' ? 'pending' : attempt.status,
    amount_usd: usd(attempt.amount_nanos),
    failure_code: attempt.failure_code,
    grant_id: attempt.grant_id,
    refunded_usd: usd(attempt.refunded_nanos),
    dispute: disputeOf(attempt),
    test_mode: attempt.test_mode,
    at: iso(attempt.created_at),
  };
}
