// Start of a recharge for a wallet that is due. Under its lock everything is checked again, and the attempt is written before any charge.
// An open attempt is named in the wallet's row, so there is never a second one, on however many processes.

import { type OpenWallet, openWallet, saveWallet } from '../../core/wallet/open-wallet.ts';
import { spendableOf } from '../../core/wallet/state.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import type { PaymentProvider } from '../../vendors/payments/port.ts';
import { listMethods, type MethodRow, usableMethod } from '../methods/store.ts';
import { keepRef } from '../refs.ts';
import { judgeLook, type Verdict } from './judge.ts';
import {
  type AttemptRow,
  chargedIn,
  findAttempt,
  findRecharge,
  insertAttempt,
  lastAttempt,
  saveAttempt,
} from './store.ts';

/**
 * The attempt that is to be asked for now, leased for `leaseMs`: the open one, or a new one. Null: none, and the wallet says when it is due
 * again.
 */
export async function lookAtWallet(
  tx: Transaction,
  accountId: string,
  provider: PaymentProvider | null,
  leaseMs: number,
): Promise<AttemptRow | null> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) return null;
  const { wallet, nowMs } = opened;
  if (wallet.recharge_due_at === null || wallet.recharge_due_at > nowMs) return null;
  const attempt =
    wallet.recharge_attempt_id === null
      ? await beginAttempt(tx, opened, provider)
      : await askAgain(tx, accountId, wallet.recharge_attempt_id);
  if (attempt === null) return null;
  const leased = { ...wallet, recharge_attempt_id: attempt.attempt_id, recharge_due_at: nowMs + leaseMs };
  await saveWallet(tx, opened, leased, []);
  return attempt;
}

/** Counted before it is asked: whoever dies meanwhile may have charged. */
async function askAgain(tx: Transaction, accountId: string, attemptId: string): Promise<AttemptRow> {
  const open = await findAttempt(tx, accountId, attemptId);
  if (open === null) throw new Error(`attempt ${attemptId} is gone`);
  const again = { ...open, tries: open.tries + 1 };
  await saveAttempt(tx, again);
  return again;
}

/** Writes a new attempt, or when to look again: then null. */
async function beginAttempt(
  tx: Transaction,
  opened: OpenWallet,
  provider: PaymentProvider | null,
): Promise<AttemptRow | null> {
  const { wallet, nowMs } = opened;
  const accountId = wallet.account_id;
  const [recharge, last, methods, charged] = await Promise.all([
    findRecharge(tx, accountId),
    lastAttempt(tx, accountId),
    listMethods(tx, accountId),
    chargedIn(tx, accountId, { dayStartMs: wallet.day_start, monthStartMs: wallet.month_start }),
  ]);
  const method = provider === null ? null : usableMethod(methods, recharge?.method_id ?? null, provider);
  const look = { wallet, spendableNanos: spendableOf(opened.unexpired), last, charged, nowMs };
  const verdict: Verdict =
    recharge === null ? { untilMs: null } : judgeLook({ ...look, recharge, hasMethod: method !== null });
  if (verdict !== 'charge' || recharge === null || method === null) {
    const dueMs = verdict === 'charge' ? null : verdict.untilMs;
    await saveWallet(tx, opened, { ...wallet, recharge_due_at: dueMs }, []);
    return null;
  }
  const attempt = newAttempt(opened, method, recharge.amount_nanos);
  await insertAttempt(tx, attempt);
  await keepRef(tx, attempt.attempt_id, { accountId, kind: 'recharge', id: attempt.attempt_id });
  return attempt;
}

function newAttempt({ wallet, nowMs }: OpenWallet, method: MethodRow, amountNanos: bigint): AttemptRow {
  const { method_id, method_ref, provider, test_mode } = method;
  return {
    account_id: wallet.account_id,
    attempt_id: newId('arch_', nowMs),
    status: 'open',
    amount_nanos: amountNanos,
    method_id,
    method_ref,
    provider,
    test_mode,
    payment_ref: null,
    failure_code: null,
    grant_id: null,
    tries: 1,
    refunded_nanos: 0n,
    dispute_status: null,
    dispute_nanos: 0n,
    return_open: false,
    day_start: wallet.day_start,
    month_start: wallet.month_start,
    created_at: nowMs,
    settled_at: null,
  };
}
