// Setup of a payment method without a payment: the row first, then the provider's page under its id, then the link. The result is read at the
// provider: on a hint, when the payer returns, and by a schedule until a day after the page expires.

import type { LeasedJob } from '../../core/background/due-work.ts';
import { openTurn } from '../../core/background/turns.ts';
import type { Enter } from '../../core/callers/enter.ts';
import { lockCaller } from '../../core/callers/lock.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import { DAY_MS, HOUR_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { type PaymentProvider, PaymentProviderError, type PaymentState } from '../../vendors/payments/port.ts';
import { earlyCheckMs, FIRST_CHECK_MS, providerOf } from '../at-provider.ts';
import { customerOf } from '../customers.ts';
import { keepRef } from '../refs.ts';
import { requireProvider } from '../require-provider.ts';
import { returnAddress } from '../return-address.ts';
import { failureOf, type PaymentCore } from '../topups/create.ts';
import {
  deleteSetup,
  findSetup,
  insertSetup,
  type NewSetup,
  openSetups,
  type SetupRow,
  saveSetup,
  setupDue,
} from './setup-store.ts';
import { keepMethod, listMethods } from './store.ts';

export const SETUPS_WORK = 'payments.setups';
const LIFETIME_MS = DAY_MS;
const METHODS_MAX = 20;

/**
 * Begins one, and answers it with its link. Throws SERVICE_UNAVAILABLE (`payments_off`), QUOTA_EXCEEDED, VENDOR_ERROR, VENDOR_DOWN; what
 * the provider did not make ends by itself.
 */
export async function createSetup(
  core: PaymentCore,
  accountId: string,
  enter: Enter,
  returnUrl: string | null,
): Promise<SetupRow> {
  const provider = requireProvider(core.payments);
  const row = await begin(core, provider, accountId, enter, returnUrl);
  try {
    return await openPage(core, provider, row);
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    core.log.warn({ err: error, setup: row.setup_id }, 'a page to leave a payment method could not be made');
    throw failureOf(error);
  }
}

function begin(
  { db }: PaymentCore,
  provider: PaymentProvider,
  accountId: string,
  enter: Enter,
  returnUrl: string | null,
) {
  return db.transaction(async (tx): Promise<NewSetup> => {
    const { nowMs } = await enter(tx);
    const [methods, open] = [await listMethods(tx, accountId), await openSetups(tx, accountId, nowMs)];
    if (methods.length + open >= METHODS_MAX)
      throw problem('QUOTA_EXCEEDED', {
        message: `An account keeps at most ${METHODS_MAX} payment methods, pages to leave one included; those end after a day.`,
        detail: 'payment_methods',
      });
    const row: NewSetup = {
      account_id: accountId,
      setup_id: newId('setup_', nowMs),
      provider: provider.name,
      test_mode: provider.testMode,
      return_url: returnUrl,
      created_at: nowMs,
      expires_at: nowMs + LIFETIME_MS,
    };
    const dueMs = nowMs + FIRST_CHECK_MS;
    await insertSetup(tx, row, dueMs);
    await keepRef(tx, row.setup_id, { accountId, kind: 'setup', id: row.setup_id });
    await openTurn(tx, accountId, SETUPS_WORK, dueMs, { later: true });
    return row;
  });
}

/** The page, made or met again under the same id, and kept. Throws PaymentProviderError. */
async function openPage(core: PaymentCore, provider: PaymentProvider, row: NewSetup): Promise<SetupRow> {
  const { account_id: accountId, setup_id: id } = row;
  const { ref, url } = await provider.checkout({
    id,
    accountId,
    customer: await customerOf({ db: core.db, provider }, accountId, null),
    purpose: 'setup',
    amountMinor: 0,
    currency: 'USD',
    saveMethod: true,
    description: 'A payment method for automatic recharges',
    returnUrl: returnAddress(core, id),
    expiresAtMs: row.expires_at,
    metadata: { account_id: accountId, setup_id: id },
  });
  return core.db.transaction(async (tx) => {
    await lockCaller(tx, accountId);
    const found = await findSetup(tx, accountId, id);
    if (found === null) throw new Error(`setup ${id} is gone`);
    if (found.checkout_ref !== null) return found;
    const linked = { ...found, checkout_ref: ref, checkout_url: url };
    await saveSetup(tx, linked);
    await keepRef(tx, ref, { accountId, kind: 'setup', id });
    return linked;
  });
}

/** Reads it at the provider, and keeps the method that was left. Answers it afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkSetup(core: PaymentCore, { accountId, id, attempt }: LeasedJob): Promise<SetupRow | null> {
  const row = await findSetup(core.db, accountId, id);
  if (row === null) return null;
  const provider = providerOf(core.payments, row);
  // A page whose making got no answer has no link that anybody could have used.
  const state = row.checkout_ref === null ? null : ((await provider?.read(row.checkout_ref)) ?? null);
  return core.db.transaction((tx) => apply(tx, row, attempt, state));
}

async function apply(
  tx: Transaction,
  { account_id, setup_id }: SetupRow,
  attempt: number,
  state: PaymentState | null,
): Promise<SetupRow | null> {
  const nowMs = await lockCaller(tx, account_id);
  const before = await findSetup(tx, account_id, setup_id);
  if (before === null) return null;
  const after = await judgeSetup(tx, before, state, nowMs);
  if (after !== before) await saveSetup(tx, after);
  const nextMs = nextCheckMs(after, nowMs);
  if (nextMs === null) await deleteSetup(tx, after);
  else await setupDue.setDue(tx, { accountId: account_id, id: setup_id, attempt }, nextMs);
  return after;
}

async function judgeSetup(
  tx: Transaction,
  row: SetupRow,
  state: PaymentState | null,
  nowMs: number,
): Promise<SetupRow> {
  if (row.status === 'succeeded') return row;
  // What was left counts also when the page had ended.
  if (state?.method != null) {
    const methodId = await keepMethod(tx, row.account_id, state.method, row, nowMs);
    return { ...row, status: 'succeeded', checkout_url: null, method_id: methodId };
  }
  if (row.status !== 'open') return row;
  if (state?.status === 'failed') return { ...row, status: 'failed', checkout_url: null };
  const isOver = state?.status === 'expired' || row.expires_at <= nowMs;
  return isOver ? { ...row, status: 'expired', checkout_url: null } : row;
}

/** Null: never again, a day after its page has ended. */
function nextCheckMs({ created_at, expires_at }: SetupRow, nowMs: number): number | null {
  return earlyCheckMs(created_at, nowMs) ?? (nowMs < expires_at + DAY_MS ? nowMs + HOUR_MS : null);
}
