// Creates a top-up: the row first, then the provider's page outside any transaction under the id of the row, then the link. If a process
// dies in between, the checks find the row: the same id meets the same page.

import { openTurn } from '../../core/background/turns.ts';
import type { Enter } from '../../core/callers/enter.ts';
import { lockCaller } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { newId } from '../../lib/ids.ts';
import { usdText } from '../../lib/money.ts';
import { DAY_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import {
  type Checkout,
  type Currency,
  type PaymentProvider,
  PaymentProviderError,
} from '../../vendors/payments/port.ts';
import { FIRST_CHECK_MS } from '../at-provider.ts';
import { customerOf } from '../customers.ts';
import { minorOfNanos } from '../money.ts';
import { keepRef } from '../refs.ts';
import { requireProvider } from '../require-provider.ts';
import { returnAddress } from '../return-address.ts';
import type { PaymentsPart } from '../terms.ts';
import { failCreation } from './apply.ts';
import { findTopup, insertTopup, type NewTopup, pendingTopups, saveTopup, type TopupRow } from './store.ts';
import { mustBeVerified } from './yearly.ts';

export interface PaymentCore extends PaymentsPart, Pick<Core, 'db' | 'baseUrl' | 'log' | 'bounds'> {
  /** Null: a command without the server secret, whose pages send no payer on. */
  readonly secrets: Core['secrets'] | null;
}

export interface TopupOrder {
  readonly amountNanos: bigint;
  readonly currency: Currency;
  readonly saveMethod: boolean;
  readonly returnUrl: string | null;
}

export const TOPUPS_WORK = 'payments.topups';
const LIFETIME_MS = DAY_MS;

/**
 * Begins a top-up and answers it with its link. Throws SERVICE_UNAVAILABLE (`payments_off`), UNSUPPORTED_CURRENCY is the caller's,
 * KYC_REQUIRED, QUOTA_EXCEEDED, VENDOR_ERROR and VENDOR_DOWN: then the top-up has failed.
 */
export async function createTopup(
  core: PaymentCore,
  accountId: string,
  enter: Enter,
  order: TopupOrder,
): Promise<TopupRow> {
  const provider = requireProvider(core.payments);
  const row = await begin(core, provider, accountId, enter, order);
  if (row === null) throw problem('KYC_REQUIRED');
  try {
    const checkout = await openCheckout(core, provider, row);
    return await linkTopup(core, accountId, row.topup_id, checkout);
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    await core.db.transaction((tx) => failCreation(tx, row, error.code, error.kind === 'unknown'));
    core.log.warn({ err: error, topup: row.topup_id }, 'a payment page could not be made');
    throw failureOf(error);
  }
}

/** Null: the owner must be verified first, which kyc_status of the account says from now on. */
function begin(
  { db, payments, bounds }: PaymentCore,
  provider: PaymentProvider,
  accountId: string,
  enter: Enter,
  order: TopupOrder,
): Promise<NewTopup | null> {
  const { amountNanos, currency } = order;
  const rateNanos = payments.fxRatesNanos[currency];
  if (rateNanos === undefined) throw new Error(`there is no rate for ${currency}`);
  return db.transaction(async (tx) => {
    const { nowMs } = await enter(tx);
    const { kycAboveNanos: aboveNanos } = payments;
    if (await mustBeVerified(tx, accountId, amountNanos, { aboveNanos, nowMs })) return null;
    const row: NewTopup = {
      account_id: accountId,
      topup_id: newId('top_', nowMs),
      amount_nanos: amountNanos,
      currency,
      charge_minor: BigInt(minorOfNanos(amountNanos, rateNanos, currency)),
      fx_rate_nanos: rateNanos,
      provider: provider.name,
      test_mode: provider.testMode,
      save_method: order.saveMethod,
      return_url: order.returnUrl,
      created_at: nowMs,
      expires_at: nowMs + LIFETIME_MS,
    };
    const { pendingTopupsMax } = bounds.account;
    if ((await pendingTopups(tx, accountId, nowMs)) >= pendingTopupsMax)
      throw problem('QUOTA_EXCEEDED', {
        message: `The account has ${pendingTopupsMax} top-ups that nobody has paid yet; each ends after a day.`,
        detail: 'pending_topups',
      });
    const dueMs = nowMs + FIRST_CHECK_MS;
    await Promise.all([
      insertTopup(tx, row, dueMs),
      keepRef(tx, row.topup_id, { accountId, kind: 'topup', id: row.topup_id }),
      openTurn(tx, accountId, TOPUPS_WORK, dueMs, { later: true }),
    ]);
    return row;
  });
}

/** The provider's page: made, or met again under the same id with the same words. Throws PaymentProviderError. */
export async function openCheckout(core: PaymentCore, provider: PaymentProvider, row: NewTopup): Promise<Checkout> {
  const { account_id: accountId, topup_id: id } = row;
  const customer = row.save_method ? await customerOf({ db: core.db, provider }, accountId, null) : null;
  return provider.checkout({
    id,
    accountId,
    customer,
    purpose: 'topup',
    amountMinor: Number(row.charge_minor),
    currency: row.currency,
    description: `${usdText(row.amount_nanos)} USD of credit`,
    saveMethod: row.save_method,
    returnUrl: returnAddress(core, id),
    expiresAtMs: row.expires_at,
    metadata: { account_id: accountId, id },
  });
}

/** Keeps the link. Answers the top-up as it is now. */
export function linkTopup(
  { db }: PaymentCore,
  accountId: string,
  topupId: string,
  checkout: Checkout,
): Promise<TopupRow> {
  return db.transaction(async (tx) => {
    const nowMs = await lockCaller(tx, accountId);
    const row = await findTopup(tx, accountId, topupId);
    if (row === null) throw new Error(`top-up ${topupId} is gone`);
    if (row.checkout_ref !== null) return row;
    const linked = { ...row, checkout_ref: checkout.ref, checkout_url: checkout.url, updated_at: nowMs };
    await Promise.all([saveTopup(tx, linked), keepRef(tx, checkout.ref, { accountId, kind: 'topup', id: topupId })]);
    return linked;
  });
}

/** What a failure of the provider is to a caller. */
export function failureOf(error: PaymentProviderError) {
  const code = error.kind === 'refused' ? 'VENDOR_ERROR' : 'VENDOR_DOWN';
  const told =
    error.kind === 'refused'
      ? 'The payment provider refused to open a payment'
      : 'The payment provider does not answer';
  return problem(code, { message: `${told}; nothing was charged.`, cause: error, retryAfterMs: 5_000 });
}
