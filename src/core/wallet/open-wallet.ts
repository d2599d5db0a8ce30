// The wallet of one account, opened under its lock, for every change of money outside a lane: grants, expiry, holds, budget. While the lock is
// held, no lane of any process commits for the account.
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { nextSequence } from '../../lib/sequence.ts';
import { clockNow } from '../database-clock.ts';
import { lockWallets, readGrants } from './lane/statements.ts';
import { rechargeHint, withRechargeDue } from './limits/recharge-due.ts';
import { type GrantRow, rollWindows, spendableOf, spendingOrder, type WalletRow } from './state.ts';

export interface OpenWallet {
  readonly nowMs: number;
  /** Rolled to nowMs. */
  readonly wallet: WalletRow;
  /** Every grant with something left, expired ones included. */
  readonly grants: readonly GrantRow[];
  /** In spending order. */
  readonly unexpired: readonly GrantRow[];
}

export interface LedgerEntry {
  readonly kind:
    | 'charge'
    | 'grant'
    | 'expire'
    | 'capture'
    | 'release'
    | 'reversal'
    | 'debt'
    | 'refund'
    | 'dispute'
    | 'restore'
    | 'transfer';
  readonly capability: string | null;
  readonly keyId: string | null;
  readonly units: bigint;
  readonly priceVersion?: string | null;
  /** What it adds to the balance, nano-USD: negative for money that leaves. */
  readonly amount: bigint;
  readonly reference: string | null;
}

const updateWallet = statement(
  'wallet_update',
  `UPDATE core.wallet
      SET balance_nanos = $2, held_nanos = $3, last_seq = $4, day_start = $5, day_used_nanos = $6, day_held_nanos = $7,
          month_start = $8, month_used_nanos = $9, month_held_nanos = $10, budget_period = $11, budget_cap_nanos = $12,
          budget_alert_nanos = $13, budget_alerted_for = $14, last_grant_nanos = $15, low_balance_armed = $16,
          debt_nanos = $17, frozen_reason = $18, recharge_trigger_nanos = $19, recharge_due_at = $20, recharge_attempt_id = $21
    WHERE account_id = $1`,
);

const insertEntry = statement(
  'wallet_insert_entry',
  `INSERT INTO core.ledger (account_id, entry_seq, batch_id, kind, capability, key_id, units, price_version,
                            amount_nanos, balance_after_nanos, reference, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

/** Locks the wallet and reads it. Null when there is no such account. */
export async function openWallet(tx: Queryable, accountId: string): Promise<OpenWallet | null> {
  const accounts = textArray([accountId]);
  const [wallets, nowMs, grants] = await Promise.all([
    tx.query<WalletRow>(lockWallets, [accounts]),
    clockNow(tx),
    tx.query<GrantRow>(readGrants, [accounts]),
  ]);
  const wallet = wallets.rows[0];
  if (wallet === undefined) return null;
  return {
    nowMs,
    wallet: rollWindows(wallet, nowMs),
    grants: grants.rows,
    unexpired: spendingOrder(grants.rows, nowMs),
  };
}

/**
 * Writes the wallet as given, due for a recharge or not any more, and ledger entries that lead from the old balance to the new one; they take the
 * next numbers of the wallet.
 */
export async function saveWallet(
  tx: Transaction,
  opened: OpenWallet,
  wallet: WalletRow,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const first = nextSequence(wallet.last_seq, opened.nowMs);
  const createdAt = timestamp(opened.nowMs);
  let balance = opened.wallet.balance_nanos;
  const rows = entries.map((entry, i) => {
    balance += entry.amount;
    const what = [entry.kind, entry.capability, entry.keyId, entry.units, entry.priceVersion ?? null, entry.amount];
    return [wallet.account_id, first + BigInt(i), first, ...what, balance, entry.reference, createdAt];
  });
  if (balance !== wallet.balance_nanos) throw new Error('the ledger entries do not lead to the new balance');
  const lastSeq = entries.length === 0 ? wallet.last_seq : first + BigInt(entries.length - 1);
  // What had expired at the opening and is still in the balance. A sweep that takes it out counts it twice: a look too many does no harm.
  const expired = spendableOf(opened.grants) - spendableOf(opened.unexpired);
  const saved = withRechargeDue(wallet, wallet.balance_nanos - wallet.held_nanos - expired, opened.nowMs);
  if (saved !== wallet) tx.hint(rechargeHint);
  await Promise.all([
    tx.query(updateWallet, walletValues({ ...saved, last_seq: lastSeq })),
    ...rows.map((row) => tx.query(insertEntry, row)),
  ]);
}

function walletValues(wallet: WalletRow) {
  return [
    wallet.account_id,
    wallet.balance_nanos,
    wallet.held_nanos,
    wallet.last_seq,
    timestamp(wallet.day_start),
    wallet.day_used_nanos,
    wallet.day_held_nanos,
    timestamp(wallet.month_start),
    wallet.month_used_nanos,
    wallet.month_held_nanos,
    wallet.budget_period,
    wallet.budget_cap_nanos,
    wallet.budget_alert_nanos,
    timestamp(wallet.budget_alerted_for),
    wallet.last_grant_nanos,
    wallet.low_balance_armed,
    wallet.debt_nanos,
    wallet.frozen_reason,
    wallet.recharge_trigger_nanos,
    timestamp(wallet.recharge_due_at),
    wallet.recharge_attempt_id,
  ];
}
