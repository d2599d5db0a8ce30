// Settings and status of auto-recharge. Nothing but `configure` ever enables it.

import { clockNow } from '../../core/database-clock.ts';
import { openWallet, saveWallet } from '../../core/wallet/open-wallet.ts';
import { rollWindows, type WalletRow } from '../../core/wallet/state.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { usd, usdText } from '../../lib/money.ts';
import { isoOrNull } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { listMethods, usableMethod } from '../methods/store.ts';
import { requireProvider } from '../require-provider.ts';
import type { Payments } from '../terms.ts';
import { attemptRecord } from './settle.ts';
import {
  type Charged,
  chargedIn,
  findRecharge,
  findWallet,
  lastAttempt,
  type RechargeRow,
  saveRecharge,
  setChargeLimit,
} from './store.ts';

export type RechargeOrder = Pick<
  RechargeRow,
  'enabled' | 'trigger_nanos' | 'amount_nanos' | 'method_id' | 'max_per_day' | 'max_per_month'
>;

/**
 * Replaces the configuration and has the wallet looked at. What had failed is forgotten; a charge that is open goes on. Throws, when it is
 * to be enabled, SERVICE_UNAVAILABLE (`payments_off`), PAYMENT_METHOD_REQUIRED, PAYMENT_DECLINED (`charge_limit`); `methodUnknown` of a
 * method that the account has not got.
 */
export async function configureRecharge(
  tx: Transaction,
  accountId: string,
  order: RechargeOrder,
  payments: Payments,
  methodUnknown: () => Error,
): Promise<void> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw problem('INVALID_API_KEY');
  const { wallet, nowMs } = opened;
  const methods = await listMethods(tx, accountId);
  const isKnown = order.method_id === null || methods.some(({ method_id }) => method_id === order.method_id);
  if (!isKnown) throw methodUnknown();
  if (order.enabled) {
    const method = usableMethod(methods, order.method_id, requireProvider(payments));
    if (method === null) throw problem('PAYMENT_METHOD_REQUIRED', { param: 'payment_method_id' });
    requireWithinLimit(order, (await chargedOf(tx, wallet)).limitNanos);
  }
  const row: RechargeRow = { ...order, account_id: accountId, failures: 0, retry_at: null, disabled_reason: null };
  await saveRecharge(tx, row, nowMs);
  const isOpen = wallet.recharge_attempt_id !== null;
  await saveWallet(
    tx,
    opened,
    {
      ...wallet,
      recharge_trigger_nanos: order.enabled ? order.trigger_nanos : null,
      recharge_due_at: isOpen ? wallet.recharge_due_at : null,
    },
    [],
  );
}

function requireWithinLimit({ amount_nanos }: RechargeOrder, limitNanos: bigint): void {
  if (amount_nanos <= limitNanos) return;
  throw problem('PAYMENT_DECLINED', {
    message: `At most ${usdText(limitNanos)} USD a month are charged without the payer. Only a person who has signed in changes that.`,
    detail: 'charge_limit',
    param: 'recharge_amount',
  });
}

/** Sets the most that is charged in a month, and has the wallet looked at. The caller has made sure that a person asks. */
export async function limitCharges(tx: Transaction, accountId: string, nanos: bigint): Promise<void> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw problem('INVALID_API_KEY');
  const { wallet } = opened;
  await setChargeLimit(tx, accountId, nanos);
  if (wallet.recharge_attempt_id === null) await saveWallet(tx, opened, { ...wallet, recharge_due_at: null }, []);
}

function chargedOf(db: Queryable, { account_id, day_start, month_start }: WalletRow): Promise<Charged> {
  return chargedIn(db, account_id, { dayStartMs: day_start, monthStartMs: month_start });
}

/** As calls show it. */
export async function rechargeRecord(db: Queryable, accountId: string) {
  const [recharge, last, found, nowMs] = await Promise.all([
    findRecharge(db, accountId),
    lastAttempt(db, accountId),
    findWallet(db, accountId),
    clockNow(db),
  ]);
  const wallet = rollWindows(found, nowMs);
  const charged = await chargedOf(db, wallet);
  const nextMs = wallet.recharge_attempt_id === null ? wallet.recharge_due_at : null;
  return {
    enabled: recharge?.enabled ?? false,
    trigger_balance: recharge === null ? null : usd(recharge.trigger_nanos),
    recharge_amount: recharge === null ? null : usd(recharge.amount_nanos),
    payment_method_id: recharge?.method_id ?? null,
    max_per_day: recharge?.max_per_day ?? null,
    max_per_month: recharge?.max_per_month ?? null,
    charged_today: charged.today,
    charged_this_month: charged.thisMonth,
    charged_this_month_usd: usd(charged.thisMonthNanos),
    charge_limit_usd: usd(charged.limitNanos),
    last_attempt: last && attemptRecord(last),
    next_attempt_at: isoOrNull(nextMs),
    disabled_reason: recharge?.disabled_reason ?? null,
  };
}
