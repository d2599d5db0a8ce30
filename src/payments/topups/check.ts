// Reads a top-up's payment at the provider and applies it: on a hint, when the payer comes back, and by the schedule of nextCheckMs.

import type { PaymentProvider } from '../../vendors/payments/port.ts';
import { providerOf, readPage } from '../at-provider.ts';
import { followElsewhere } from '../clawbacks/follow.ts';
import { settlePendingRefunds } from '../clawbacks/refund.ts';
import { applyPayment, applyReturns, type TopupAttempt } from './apply.ts';
import { linkTopup, openCheckout, type PaymentCore } from './create.ts';
import { creditOf, findTopup, type TopupRow } from './store.ts';

/** Reads the payment and applies it. Answers the top-up afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkTopup(core: PaymentCore, job: TopupAttempt): Promise<TopupRow | null> {
  const row = await findTopup(core.db, job.accountId, job.id);
  if (row === null) return null;
  // What is pending expires where nothing can be learned.
  const provider = providerOf(core.payments, row);
  const payment = provider && (await readPage(core, provider, row, () => openPage(core, provider, row)));
  const applied = await core.db.transaction((tx) => applyPayment(tx, job, payment, core.payments));
  const topup = applied?.topup ?? null;
  if (applied === null || topup === null || payment === null || provider === null) return topup;
  const credit = creditOf(topup);
  if (credit === null || applied.elsewhere === null) return settlePendingRefunds(core, provider, topup, payment);
  const returns = await followElsewhere(core.db, credit, payment, applied.elsewhere);
  return core.db.transaction((tx) => applyReturns(tx, job, returns));
}

async function openPage(core: PaymentCore, provider: PaymentProvider, row: TopupRow): Promise<string> {
  const checkout = await openCheckout(core, provider, row);
  await linkTopup(core, row.account_id, row.topup_id, checkout);
  return checkout.ref;
}
