// Reading a top-up's payment at the provider and applying it: when a hint says so, when the payer comes back, and by the schedule of
// nextCheckMs. Whatever messages are lost, doubled or late, this is the one way.

import { dueWork, type LeasedJob } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { openTurn } from '../../core/background/turns.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { Transaction } from '../../db/database.ts';
import { type PaymentProvider, PaymentProviderError, type PaymentState } from '../../vendors/payments/port.ts';
import { followElsewhere } from '../clawbacks/follow.ts';
import { settlePendingRefunds } from '../clawbacks/refund.ts';
import { applyPayment, applyReturns, type TopupAttempt } from './apply.ts';
import { linkTopup, openCheckout, type PaymentCore, repeatableMs, TOPUPS_WORK } from './create.ts';
import { creditOf, findTopup, type TopupRow, topupDue } from './store.ts';

export function topupChecks(core: PaymentCore): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: TOPUPS_WORK,
    places: 4,
    perClaim: 4,
    claim: topupDue.claim,
    run: async (job) => {
      await checkTopup(core, job);
    },
    putBack: topupDue.setDue,
  });
}

/** Something of the payment may have changed: it is read as soon as a process can. */
export async function hintTopup(tx: Transaction, accountId: string, topupId: string): Promise<void> {
  const nowMs = await clockNow(tx);
  await topupDue.makeDue(tx, accountId, topupId, nowMs);
  await openTurn(tx, accountId, TOPUPS_WORK, nowMs);
}

/** Reads the payment and applies it. Answers the top-up afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkTopup(core: PaymentCore, job: TopupAttempt): Promise<TopupRow | null> {
  const row = await findTopup(core.db, job.accountId, job.id);
  if (row === null) return null;
  const { provider } = core.payments;
  // Of a provider that is not configured any more nothing can be learned: what is pending expires.
  const isReadable = provider !== null && provider.name === row.provider && provider.testMode === row.test_mode;
  const payment = isReadable ? await readPayment(core, provider, row) : null;
  const applied = await core.db.transaction((tx) => applyPayment(tx, job, payment, core.payments));
  const topup = applied?.topup ?? null;
  if (applied === null || topup === null || payment === null || !isReadable) return topup;
  const credit = creditOf(topup);
  if (credit === null || applied.elsewhere === null) return settlePendingRefunds(core, provider, topup, payment);
  const returns = await followElsewhere(core.db, credit, payment, applied.elsewhere);
  return core.db.transaction((tx) => applyReturns(tx, job, returns));
}

/** Null: there is no payment that the provider knows. A row without a ref asks for its page again, under its id, while that is safe. */
async function readPayment(core: PaymentCore, provider: PaymentProvider, row: TopupRow): Promise<PaymentState | null> {
  if (row.checkout_ref !== null) return provider.read(row.checkout_ref);
  if ((await clockNow(core.db)) >= row.created_at + repeatableMs) return null;
  try {
    const checkout = await openCheckout(core, provider, row);
    await linkTopup(core, row.account_id, row.topup_id, checkout);
    return await provider.read(checkout.ref);
  } catch (error) {
    if (error instanceof PaymentProviderError && error.kind === 'refused') return null;
    throw error;
  }
}
