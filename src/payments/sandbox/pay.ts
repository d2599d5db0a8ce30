// Actions of a payer on the sandbox's page. A payment that is decided does not change, however often a form is sent.

import { clockNow } from '../../core/database-clock.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import { slowMs, type TestCard } from './cards.ts';
import {
  findPayment,
  insertMethod,
  insertSubscription,
  lockPayment,
  type PaymentRow,
  payRenewal,
  savePayment,
} from './store.ts';

/** Pays with a test card. Answers the payment afterwards; null: there is none with that token. */
export function payWith(db: Database, token: string, card: TestCard): Promise<PaymentRow | null> {
  return change(db, token, 'open', async (tx, payment, nowMs) => {
    const chosen = { ...payment, card: card.id };
    if (card.outcome === 'decline') return { ...chosen, failure_code: 'card_declined' };
    if (card.outcome === 'authenticate') return { ...chosen, status: 'authenticating', failure_code: null };
    return payPayment(tx, chosen, card.outcome, nowMs);
  });
}

/** The payer confirms to be the owner of the card, or does not: then nothing is paid, and another card may be picked. */
export function authenticate(db: Database, token: string, confirmed: boolean): Promise<PaymentRow | null> {
  return change(db, token, 'authenticating', async (tx, payment, nowMs) =>
    confirmed
      ? payPayment(tx, payment, 'pay', nowMs)
      : { ...payment, status: 'open', card: null, failure_code: 'authentication_failed' },
  );
}

function change(
  db: Database,
  token: string,
  from: PaymentRow['status'],
  make: (tx: Transaction, payment: PaymentRow, nowMs: number) => Promise<PaymentRow>,
): Promise<PaymentRow | null> {
  return db.transaction(async (tx) => {
    const found = await findPayment(tx, { token });
    const payment = found === null ? null : await lockPayment(tx, found.ref);
    const nowMs = await clockNow(tx);
    if (payment === null || payment.status !== from || payment.expires_at <= nowMs) return payment;
    const after = await make(tx, payment, nowMs);
    await savePayment(tx, after);
    return after;
  });
}

/** The payment with what it keeps: the method where one is asked for, and the subscription. */
async function payPayment(
  tx: Transaction,
  payment: PaymentRow,
  outcome: 'pay' | 'review' | 'wait',
  nowMs: number,
): Promise<PaymentRow> {
  const { purpose, account_id } = payment;
  if (purpose === 'invoice') {
    const isPaid = await payRenewal(tx, payment.subscription_ref as string);
    return { ...payment, failure_code: isPaid ? null : 'voided', status: isPaid ? 'paid' : 'failed', pays_at: nowMs };
  }
  const paysAt = nowMs + (outcome === 'wait' && purpose !== 'setup' ? slowMs : 0);
  const keepsMethod = payment.save_method || purpose !== 'topup';
  const methodRef = keepsMethod ? newId('sbx_pm_') : null;
  const subscriptionRef = purpose === 'subscription' ? newId('sbx_sub_') : null;
  const card = payment.card as string;
  if (methodRef !== null) await insertMethod(tx, { ref: methodRef, account_id, card, detached: false }, nowMs);
  if (methodRef !== null && subscriptionRef !== null)
    await insertSubscription(tx, { ref: subscriptionRef, method_ref: methodRef, started_at: paysAt }, payment, nowMs);
  return {
    ...payment,
    failure_code: null,
    pays_at: paysAt,
    method_ref: methodRef,
    subscription_ref: subscriptionRef,
    status: paysAt > nowMs ? 'processing' : outcome === 'review' && purpose === 'topup' ? 'review' : 'paid',
  };
}
