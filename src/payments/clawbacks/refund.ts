// Refunds by the operator: the credit is taken out first, then paid back under the id of the row, and restored if the provider refuses.

import { openTurn } from '../../core/background/turns.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import { clockNow } from '../../core/database-clock.ts';
import { openWallet } from '../../core/wallet/open-wallet.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import { usdText } from '../../lib/money.ts';
import { departureOf } from '../../people/absorbing/store.ts';
import { problem } from '../../problems/problem.ts';
import {
  type PaymentProvider,
  PaymentProviderError,
  type PaymentState,
  type RefundState,
} from '../../vendors/payments/port.ts';
import { isOf, repeatableMs } from '../at-provider.ts';
import { minorGoingBack } from '../money.ts';
import { requireProvider } from '../require-provider.ts';
import { type PaymentCore, TOPUPS_WORK } from '../topups/create.ts';
import { creditOf, findTopup, saveTopup, type TopupRow, topupDue } from '../topups/store.ts';
import { followReturns, returnedOf, returnsOf } from './follow.ts';
import { type ClawbackRow, clawbacksOf } from './store.ts';
import { takeBack } from './take-back.ts';

interface Taken {
  readonly topup: TopupRow;
  readonly refund: ClawbackRow;
}

const SETTLED_LATER_MS = 60_000;

/**
 * Pays back `amountNanos` of a top-up, at most what is left of its credit (null: all of that). Answers the top-up and the refund, which is
 * `pending` while the provider has not answered: the checks settle it; null: there is no such top-up. Throws STATE_CONFLICT where there
 * is nothing, or not so much, to pay back.
 * @param refundId of this refund: the same again makes no second one; absent: a new one
 */
export async function refundTopup(
  core: PaymentCore,
  accountId: string,
  topupId: string,
  amountNanos: bigint | null,
  refundId: string = newId('ref_'),
): Promise<Taken | null> {
  const provider = requireProvider(core.payments);
  const taken = await core.db.transaction((tx) => take(tx, provider, [accountId, topupId, refundId], amountNanos));
  if (taken === null) return null;
  const topup = taken.refund.status === 'pending' ? await payBack(core, provider, taken) : taken.topup;
  const rows = await clawbacksOf(core.db, accountId, topupId);
  return { topup, refund: rows.find(({ clawback_id }) => clawback_id === taken.refund.clawback_id) ?? taken.refund };
}

async function take(
  tx: Transaction,
  provider: PaymentProvider,
  [accountId, topupId, refundId]: readonly [string, string, string],
  wanted: bigint | null,
): Promise<Taken | null> {
  const nowMs = await lockAccount(tx, accountId);
  const topup = nowMs === null ? null : await findTopup(tx, accountId, topupId);
  if (nowMs === null || topup === null) return null;
  const { grant_id: grantId, payment_ref: paymentRef } = topup;
  if (grantId === null || paymentRef === null)
    throw conflict(`The top-up is ${topup.status}: nothing of it was credited.`);
  if (!isOf(provider, topup))
    throw conflict(`The top-up was paid by ${topup.provider}, which does not take payments here now.`);
  const rows = await clawbacksOf(tx, accountId, topupId);
  const made = rows.find(({ clawback_id }) => clawback_id === refundId);
  if (made !== undefined) return { topup, refund: made };
  const departure = await departureOf(tx, accountId, (topup.credited_at ?? nowMs) - 1);
  if (departure !== null)
    throw conflict(`Its credit went over into ${departure.into}. Pay it back at the provider: it is taken there.`);
  const returned = returnedOf(topup, rows);
  const left = smaller(await freeIn(tx, accountId, grantId), returned.amountNanos - returned.backNanos);
  const nanos = wanted ?? left;
  if (nanos > left || nanos <= 0n)
    throw conflict(`Of the top-up ${usdText(left > 0n ? left : 0n)} USD are left that can be paid back.`);
  const minor = minorGoingBack(returned, nanos);
  if (minor === 0n) throw conflict(`${usdText(nanos)} USD are less than the smallest amount of ${topup.currency}.`);
  const refund = await takeBack(
    tx,
    {
      account_id: accountId,
      clawback_id: refundId,
      source: 'topup',
      source_id: topupId,
      kind: 'refund',
      status: 'pending',
      is_ours: true,
      amount_nanos: nanos,
      amount_minor: minor,
    },
    { grantId, earlierId: grantId, testMode: topup.test_mode },
  );
  const after = { ...topup, ...returnsOf([...rows, refund]), updated_at: nowMs };
  const dueMs = nowMs + SETTLED_LATER_MS;
  await saveTopup(tx, after);
  await topupDue.makeDue(tx, accountId, topupId, dueMs);
  await openTurn(tx, accountId, TOPUPS_WORK, dueMs, { later: true });
  return { topup: after, refund };
}

async function freeIn(tx: Transaction, accountId: string, grantId: string): Promise<bigint> {
  const opened = await openWallet(tx, accountId);
  const grant = opened?.unexpired.find(({ grant_id }) => grant_id === grantId);
  return grant === undefined ? 0n : grant.remaining_nanos - grant.reserved_nanos;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function conflict(message: string) {
  return problem('STATE_CONFLICT', { message });
}

/** Asks the provider, under the id of the row, and writes what it says; without an answer the row stays pending. */
async function payBack(core: PaymentCore, provider: PaymentProvider, { topup, refund }: Taken): Promise<TopupRow> {
  const { clawback_id: id, amount_minor } = refund;
  const amountMinor = Number(amount_minor);
  try {
    const answer = await provider.refund({ id, paymentRef: topup.payment_ref as string, amountMinor });
    return await settleRefund(core, topup, { ...answer, id });
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    core.log.warn({ err: error, refund: id }, 'a refund was not made');
    if (error.kind !== 'refused') return topup;
    return settleRefund(core, topup, { ref: id, id, status: 'failed', amountMinor });
  }
}

function settleRefund({ db }: PaymentCore, { account_id, topup_id }: TopupRow, refund: RefundState): Promise<TopupRow> {
  return db.transaction(async (tx) => {
    const nowMs = await lockAccount(tx, account_id);
    const topup = await findTopup(tx, account_id, topup_id);
    const credit = topup === null ? null : creditOf(topup);
    if (nowMs === null || topup === null || credit === null) throw new Error(`top-up ${topup_id} is gone`);
    const followed = await followReturns(tx, credit, { refunds: [refund], disputes: [] });
    // With an open refund no account goes over into another.
    if (followed.elsewhere !== null) throw new Error(`the credit of ${topup_id} is elsewhere, with a refund open`);
    const saved = { ...topup, ...followed.returns, updated_at: nowMs };
    await saveTopup(tx, saved);
    return saved;
  });
}

/**
 * Refunds whose answer was lost: those that the payment shows are settled already; the others are asked for again under their ids, or,
 * when a provider may have forgotten those, were not made. Answers the top-up afterwards.
 */
export async function settlePendingRefunds(
  core: PaymentCore,
  provider: PaymentProvider,
  topup: TopupRow,
  payment: PaymentState,
): Promise<TopupRow> {
  if (!topup.return_open) return topup;
  const rows = await clawbacksOf(core.db, topup.account_id, topup.topup_id);
  const open = rows.filter(({ is_ours, status }) => is_ours && status === 'pending');
  const unseen = open.filter(({ clawback_id }) => !payment.refunds.some(({ id }) => id === clawback_id));
  const nowMs = await clockNow(core.db);
  let after = topup;
  for (const refund of unseen) {
    const { clawback_id: id, amount_minor } = refund;
    after =
      nowMs < refund.created_at + repeatableMs
        ? await payBack(core, provider, { topup: after, refund })
        : await settleRefund(core, after, { ref: id, id, status: 'failed', amountMinor: Number(amount_minor) });
  }
  return after;
}
