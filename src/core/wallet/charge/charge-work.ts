import type { Transaction } from '../../../db/database.ts';
import type { KeySpend } from '../../callers/key-cap.ts';
import { capAfter, type KeyCap, readKeyCaps, saveSpends } from '../../callers/key-cap.ts';
import { sendEvents } from '../../events/outbox.ts';
import { addUsage } from '../../usage/add-usage.ts';
import { saveReserves } from '../grants.ts';
import { admit, type OpenGrant, type Refusal } from '../lane/admit.ts';
import { budgetAlert, lowBalanceChange } from '../limits/alerts.ts';
import { type LedgerEntry, type OpenWallet, saveWallet } from '../open-wallet.ts';
import { type PriceBook, priceOf } from '../prices.ts';
import { fundsOf, type WalletRow } from '../state.ts';

export interface Work {
  /** What it is booked under; the entry of the price book too, where none is named. */
  readonly capability: string;
  readonly priceEntry?: string;
  readonly keyId: string;
  readonly units: bigint;
  /** It is the account's own: the spend cap of the key that it is booked under does not bound it. */
  readonly isUncapped?: boolean;
}

export type WorkVerdict =
  | { readonly charged: true; readonly costNanos: bigint }
  | { readonly charged: false; readonly reason: 'suspended' | Refusal['reason'] };

/**
 * Charges each piece of work that the wallet and the budget cover, in order; verdicts in the same order. `opened` comes from
 * openWallet of this transaction, and is used up: nothing else may save it.
 */
export async function chargeWork(
  tx: Transaction,
  opened: OpenWallet,
  prices: PriceBook,
  work: readonly Work[],
): Promise<WorkVerdict[]> {
  if (opened.wallet.suspended) return work.map(() => ({ charged: false, reason: 'suspended' }));
  const keyIds = work.filter(({ isUncapped }) => isUncapped !== true).map(({ keyId }) => keyId);
  const keyCaps = keyIds.length === 0 ? [] : await readKeyCaps(tx, opened, keyIds);
  const funds = fundsOf(opened.wallet, opened.unexpired, keyCaps);
  const asks = work.map((piece) => ({
    keyId: piece.keyId,
    amount: priceOf(prices, piece.priceEntry ?? piece.capability, piece.units),
    mode: 'charge' as const,
  }));
  const { verdicts, grants, charged, keySpends } = admit(funds, asks);
  const bills = work.flatMap((piece, i) =>
    verdicts[i]?.admitted === true ? [{ ...piece, amount: asks[i]?.amount as bigint }] : [],
  );
  if (bills.length > 0) {
    const changed = grants.filter((grant, i) => grant.remaining !== funds.grants[i]?.remaining);
    const entries = entriesOf(bills, prices.version);
    await Promise.all([
      saveReserves(tx, opened.wallet.account_id, changed),
      saveWorkSpends(tx, opened, keyCaps, keySpends),
      saveWallet(tx, opened, walletAfter(tx, opened, grants, charged), entries),
      sendUsage(tx, opened, entries),
    ]);
  }
  return verdicts.map((verdict, i) =>
    verdict.admitted
      ? { charged: true, costNanos: asks[i]?.amount as bigint }
      : { charged: false, reason: verdict.reason },
  );
}

async function saveWorkSpends(
  tx: Transaction,
  { wallet }: OpenWallet,
  caps: readonly KeyCap[],
  spends: readonly KeySpend[],
) {
  if (spends.length === 0) return;
  const rows = caps.map((cap) => ({ accountId: wallet.account_id, ...capAfter(cap, spends) }));
  await saveSpends(tx, rows);
}

/** The wallet without what was charged; tells what the charge crossed. */
function walletAfter(tx: Transaction, opened: OpenWallet, grants: readonly OpenGrant[], charged: bigint): WalletRow {
  const { wallet, nowMs } = opened;
  const after = {
    ...wallet,
    balance_nanos: wallet.balance_nanos - charged,
    day_used_nanos: wallet.day_used_nanos + charged,
    month_used_nanos: wallet.month_used_nanos + charged,
  };
  const spendable = grants.reduce((sum, grant) => sum + grant.remaining - grant.reserved, 0n);
  const low = lowBalanceChange(after, spendable, nowMs);
  const alert = budgetAlert(low.wallet, nowMs);
  const events = [...low.events, ...alert.events];
  sendEvents(
    tx,
    events.map((event) => ({ ...event, accountId: wallet.account_id, requestId: null })),
    nowMs,
  );
  return alert.wallet;
}

type Entry = LedgerEntry & { readonly capability: string; readonly keyId: string };

/** One entry per (capability, key), as in a lane commit. */
function entriesOf(bills: readonly (Work & { readonly amount: bigint })[], priceVersion: string): Entry[] {
  const entries = new Map<string, Entry>();
  for (const { capability, keyId, units, amount } of bills) {
    const id = `${capability}\n${keyId}`;
    const sum = entries.get(id) ?? { units: 0n, amount: 0n };
    entries.set(id, {
      kind: 'charge',
      capability,
      keyId,
      units: sum.units + units,
      priceVersion,
      amount: sum.amount - amount,
      reference: null,
    });
  }
  return [...entries.values()];
}

/** Units and spending; the work is no request of the account. */

function sendUsage(tx: Transaction, { wallet, nowMs }: OpenWallet, entries: readonly Entry[]): Promise<unknown> {
  const added = entries.map(({ capability, keyId, units, amount }) => ({
    accountId: wallet.account_id,
    atMs: nowMs,
    capability,
    keyId,
    requests: 0n,
    errors: 0n,
    units,
    spendNanos: -amount,
  }));
  return addUsage(tx, added);
}
