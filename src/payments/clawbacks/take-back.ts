// Takes credit back out of a wallet, and restores exactly that, under the wallet's lock. The payment's own grant goes first, then other paid
// credit, then promotional credit. Held credit is never taken, and no balance falls below zero. The missing amount becomes a debt.

import { sendEvents } from '../../core/events/outbox.ts';
import { withDebt } from '../../core/wallet/debt.ts';
import { grantCredit, saveReserves } from '../../core/wallet/grants.ts';
import { lowBalanceChange, rearmLowBalance } from '../../core/wallet/limits/alerts.ts';
import { type LedgerEntry, type OpenWallet, openWallet, saveWallet } from '../../core/wallet/open-wallet.ts';
import { type GrantRow, spendableOf, type WalletRow } from '../../core/wallet/state.ts';
import type { Transaction } from '../../db/database.ts';
import { type ClawbackRow, countOpenDisputes, insertClawback, readGrantsById, settleClawback } from './store.ts';

export type NewClawback = Pick<
  ClawbackRow,
  | 'account_id'
  | 'clawback_id'
  | 'source'
  | 'source_id'
  | 'kind'
  | 'status'
  | 'is_ours'
  | 'amount_nanos'
  | 'amount_minor'
>;

/** The payment's own grant in the account. */
export interface OwnGrant {
  /** Null: it had been spent when the account that was credited went over into this one. */
  readonly grantId: string | null;
  /** The name it has, or would have had, in the account before this one. */
  readonly earlierId: string;
  readonly testMode: boolean;
}

/** Takes the amount back. Answers the row that was written. */
export async function takeBack(tx: Transaction, clawback: NewClawback, own: OwnGrant): Promise<ClawbackRow> {
  const opened = await open(tx, clawback.account_id);
  const { parts, missing } = partsFor(inTakingOrder(opened.unexpired, own.grantId), clawback.amount_nanos);
  const taken = clawback.amount_nanos - missing;
  const row: ClawbackRow = {
    ...clawback,
    grant_ids: parts.map(({ grant }) => grant.grant_id),
    grant_nanos: parts.map(({ nanos }) => nanos),
    debt_nanos: missing,
    failure_code: null,
    created_at: opened.nowMs,
  };
  await insertClawback(tx, row);
  const disputes = await countOpenDisputes(tx, clawback.account_id);
  const spent = { ...opened.wallet, balance_nanos: opened.wallet.balance_nanos - taken };
  const wallet = frozenBy(spent, disputes, opened.wallet.debt_nanos + missing);
  const low = lowBalanceChange(wallet, spendableOf(opened.unexpired) - taken, opened.nowMs);
  const told = low.events.map((event) => ({ ...event, accountId: clawback.account_id, requestId: null }));
  sendEvents(tx, told, opened.nowMs);
  await Promise.all([
    saveReserves(
      tx,
      clawback.account_id,
      parts.map(({ grant, nanos }) => reserve(grant, grant.remaining_nanos - nanos)),
    ),
    saveWallet(tx, opened, low.wallet, [entryOf(clawback.kind, -taken, clawback.clawback_id)]),
  ]);
  return row;
}

/** The money stayed gone: nothing is owed any more beyond what was taken. */
export async function keepTaken(tx: Transaction, row: ClawbackRow): Promise<void> {
  const opened = await open(tx, row.account_id);
  await settleClawback(tx, row, { status: 'done', forgivenNanos: 0n, failureCode: null }, opened.nowMs);
  const disputes = await countOpenDisputes(tx, row.account_id);
  await saveWallet(tx, opened, frozenBy(opened.wallet, disputes, opened.wallet.debt_nanos), []);
}

/** Gives back what was taken: to the grants it came from; of the debt it made, what is open is cancelled, the rest goes to `own`. */
export async function restore(
  tx: Transaction,
  row: ClawbackRow,
  own: OwnGrant,
  failureCode: string | null,
): Promise<void> {
  const opened = await open(tx, row.account_id);
  const forgiven = row.debt_nanos < opened.wallet.debt_nanos ? row.debt_nanos : opened.wallet.debt_nanos;
  const parts = new Map(row.grant_ids.map((id, i) => [id, row.grant_nanos[i] as bigint]));
  const paidNanos = row.debt_nanos - forgiven;
  if (paidNanos > 0n && own.grantId !== null) parts.set(own.grantId, (parts.get(own.grantId) ?? 0n) + paidNanos);
  const given = [...parts.values()].reduce((sum, nanos) => sum + nanos, 0n);
  const grants = await readGrantsById(tx, row.account_id, [...parts.keys()]);
  if (grants.length !== parts.size) throw new Error(`a grant of ${row.clawback_id} is gone`);
  await settleClawback(tx, row, { status: 'restored', forgivenNanos: forgiven, failureCode }, opened.nowMs);
  const disputes = await countOpenDisputes(tx, row.account_id);
  const credited = { ...opened.wallet, balance_nanos: opened.wallet.balance_nanos + given };
  const wallet = frozenBy(credited, disputes, opened.wallet.debt_nanos - forgiven);
  await Promise.all([
    saveReserves(
      tx,
      row.account_id,
      grants.map((grant) => reserve(grant, grant.remaining_nanos + (parts.get(grant.grant_id) as bigint))),
    ),
    saveWallet(tx, opened, rearmLowBalance(wallet, spendableOf(opened.unexpired) + given), [
      entryOf('restore', given, row.clawback_id),
    ]),
  ]);
  if (paidNanos > 0n && own.grantId === null) await renew(tx, row, own, paidNanos);
}

/** Gives what was taken in an account before to this one, which its credit went over into: as a grant of its own, once. */
export async function giveBack(tx: Transaction, accountId: string, row: ClawbackRow, testMode: boolean): Promise<void> {
  await grantCredit(tx, accountId, {
    kind: 'paid',
    amountNanos: row.amount_nanos,
    expiresInMs: null,
    note: `restored ${row.source_id}`,
    testMode,
    source: { kind: 'restored', id: row.clawback_id },
  });
}

/** The grant that the account would have, had not all of it been spent before. */
async function renew(tx: Transaction, row: ClawbackRow, { earlierId, testMode }: OwnGrant, amountNanos: bigint) {
  await grantCredit(tx, row.account_id, {
    kind: 'paid',
    amountNanos,
    expiresInMs: null,
    note: `restored ${row.source_id}`,
    testMode,
    source: { kind: 'absorption', id: earlierId },
  });
}

async function open(tx: Transaction, accountId: string): Promise<OpenWallet> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw new Error(`account ${accountId} has no wallet`);
  return opened;
}

/** `grants` in spending order. */
function inTakingOrder(grants: readonly GrantRow[], grantId: string | null): GrantRow[] {
  const rank = (grant: GrantRow) => (grant.grant_id === grantId ? 0 : grant.kind === 'paid' ? 1 : 2);
  return [...grants].sort((a, b) => rank(a) - rank(b));
}

function partsFor(grants: readonly GrantRow[], amount: bigint) {
  let missing = amount;
  const parts = grants.flatMap((grant) => {
    const free = grant.remaining_nanos - grant.reserved_nanos;
    const nanos = free < missing ? free : missing;
    missing -= nanos;
    return nanos === 0n ? [] : [{ grant, nanos }];
  });
  return { parts, missing };
}

function frozenBy(wallet: WalletRow, openDisputes: number, debtNanos: bigint): WalletRow {
  return withDebt({ ...wallet, frozen_reason: openDisputes > 0 ? 'dispute' : null }, debtNanos);
}

function reserve(grant: GrantRow, remaining: bigint) {
  return { grantId: grant.grant_id, remaining, reserved: grant.reserved_nanos };
}

function entryOf(kind: LedgerEntry['kind'], amount: bigint, reference: string): LedgerEntry {
  return { kind, capability: null, keyId: null, units: 0n, amount, reference };
}
