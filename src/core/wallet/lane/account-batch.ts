// The part of a lane commit that belongs to one account, computed without a database: the admitted calls and the new rows.
import { newId } from '../../../lib/ids.ts';
import type { Problem } from '../../../problems/problem.ts';
import { capAfter, type KeyCap } from '../../callers/key-cap.ts';
import { budgetAlert, lowBalanceChange } from '../limits/alerts.ts';
import { withRechargeDue } from '../limits/recharge-due.ts';
import { fundsOf, type GrantRow, type WalletRow } from '../state.ts';
import { admit, type GrantPart, type OpenGrant, type Verdict } from './admit.ts';
import type { AuthorizedHold, LaneItem, ReadVerdict } from './lane-item.ts';
import { insufficientCredit } from './refusal.ts';

export interface NewHold {
  readonly authorized: AuthorizedHold;
  readonly item: LaneItem;
  readonly bill: Bill;
  readonly parts: readonly GrantPart[];
  /** Null: never by itself. */
  readonly expiresAtMs: number | null;
}

/** What a call costs in the end: fewer units than asked for when part of it is a duplicate. */
export interface Bill {
  readonly keyId: string;
  readonly units: bigint;
  readonly amount: bigint;
  readonly mode: 'charge' | 'hold';
}

export interface Admitted {
  readonly item: LaneItem;
  readonly bill: Bill;
  readonly context: unknown;
  readonly firstSeq: bigint;
  readonly spendableAfter: bigint;
  readonly hold: NewHold | null;
  readonly holdId: string | null;
}

export interface BatchEntry {
  readonly accountId: string;
  readonly kind: 'charge' | 'hold';
  readonly capability: string;
  readonly keyId: string;
  readonly requests: number;
  readonly units: bigint;
  readonly priceVersion: string;
  readonly amount: bigint;
  readonly balanceAfter: bigint;
  readonly reference: string | null;
  readonly seq: bigint;
}

export interface WalletEvent {
  readonly accountId: string;
  readonly type: string;
  readonly data: unknown;
  readonly requestId: string | null;
}

export interface AccountBatch {
  readonly accountId: string;
  /** A nonce: sequence numbers follow the clock of the server, and after a fail-over to one that is behind another process could get ours. */
  readonly batchId: bigint;
  readonly admitted: readonly Admitted[];
  readonly refused: readonly (readonly [LaneItem, Problem])[];
  readonly wallet: WalletRow;
  /** Its wallet is to be recharged, and was not before. */
  readonly makesDue: boolean;
  readonly changedGrants: readonly OpenGrant[];
  /** Caps of keys that were charged or held against. */
  readonly changedCaps: readonly KeyCap[];
  readonly entries: readonly BatchEntry[];
  readonly events: readonly WalletEvent[];
}

export interface AccountBatchInput {
  /** Rolled to nowMs. */
  readonly wallet: WalletRow;
  /** In spending order. */
  readonly grants: readonly GrantRow[];
  /** Of the items' keys that have one. */
  readonly keyCaps: readonly KeyCap[];
  /** Scopes of the calling keys. */
  readonly scopesOf: (item: LaneItem) => readonly string[] | null;
  readonly items: readonly LaneItem[];
  readonly verdicts: ReadonlyMap<LaneItem, ReadVerdict<unknown>>;
  readonly firstSeq: bigint;
  readonly batchId: bigint;
  readonly nowMs: number;
}

const HOLD_LIFETIME_MS = 15 * 60_000;

export function composeBatch(input: AccountBatchInput): AccountBatch {
  const { wallet, items, nowMs } = input;
  // A hold covers the maximum; what is really billed shows when it is captured.
  const bills = items.map((item) => billOf(item, item.mode === 'hold' ? undefined : input.verdicts.get(item)));
  const funds = fundsOf(wallet, input.grants, input.keyCaps);
  const admission = admit(funds, bills);
  const refused: [LaneItem, Problem][] = [];
  const admitted: Admitted[] = [];
  // The ledger entries take the first numbers, the effects the rest.
  const entryCountMax = BigInt(items.length);
  let seq = input.firstSeq + entryCountMax;
  items.forEach((item, i) => {
    const verdict = admission.verdicts[i] as Verdict;
    if (!verdict.admitted) {
      refused.push([item, insufficientCredit(verdict, (bills[i] as Bill).amount, input.scopesOf(item), nowMs)]);
      return;
    }
    const verdictRead = input.verdicts.get(item);
    const context = verdictRead?.kind === 'go' ? verdictRead.context : undefined;
    const bill = bills[i] as Bill;
    const hold = newHold(item, bill, context, seq, verdict.parts, nowMs);
    const { spendableAfter } = verdict;
    const holdId = hold?.authorized.holdId ?? null;
    admitted.push({ item, bill, context, firstSeq: seq, spendableAfter, hold, holdId });
    seq += BigInt(item.sequences);
  });
  const entries = entriesOf(admitted, input.firstSeq, wallet.balance_nanos);
  const after = walletAfter(wallet, admission, seq - 1n);
  const spendable = admission.grants.reduce((sum, grant) => sum + grant.remaining - grant.reserved, 0n);
  const low = lowBalanceChange(after, spendable, nowMs);
  const alert = budgetAlert(low.wallet, nowMs);
  const saved = withRechargeDue(alert.wallet, spendable, nowMs);
  const requestId = items[0]?.requestId ?? null;
  const events = [...low.events, ...alert.events].map((event) => ({
    ...event,
    accountId: wallet.account_id,
    requestId,
  }));
  return {
    accountId: wallet.account_id,
    batchId: input.batchId,
    admitted,
    refused,
    wallet: saved,
    makesDue: wallet.recharge_due_at === null && saved.recharge_due_at !== null,
    changedGrants: changedGrants(funds.grants, admission.grants),
    changedCaps: input.keyCaps
      .map((cap) => capAfter(cap, admission.keySpends))
      .filter((cap, i) => cap !== input.keyCaps[i]),
    entries,
    events,
  };
}

/** The price of a call as it was read: its share of the asked price when fewer units are to be billed. */
export function billOf(item: LaneItem, verdict: ReadVerdict<unknown> | undefined): Bill {
  const { units, amount } = item;
  const mode = item.mode === 'charge' ? 'charge' : 'hold';
  const keyId = item.principal.id;
  if (verdict?.kind !== 'go' || verdict.units === undefined || units === 0n) return { keyId, units, amount, mode };
  return { keyId, units: verdict.units, amount: (amount * verdict.units) / units, mode };
}

function changedGrants(before: readonly OpenGrant[], after: readonly OpenGrant[]): OpenGrant[] {
  return after.filter((grant, i) => grant.remaining !== before[i]?.remaining || grant.reserved !== before[i]?.reserved);
}

function newHold(
  item: LaneItem,
  bill: Bill,
  context: unknown,
  firstSeq: bigint,
  parts: readonly GrantPart[],
  nowMs: number,
): NewHold | null {
  if (item.mode === 'charge') return null;
  const authorized = { holdId: newId('hold_', nowMs), amount: bill.amount, context, firstSeq, nowMs };
  const holdMs = item.holdMs === undefined ? HOLD_LIFETIME_MS : item.holdMs;
  return { authorized, item, bill, parts, expiresAtMs: holdMs === null ? null : nowMs + holdMs };
}

/** One entry per (capability, key), one per hold. Balances run from entry to entry. */
function entriesOf(admitted: readonly Admitted[], firstSeq: bigint, balance: bigint): BatchEntry[] {
  const sums = new Map<
    string,
    { item: LaneItem; hold: NewHold | null; requests: number; units: bigint; amount: bigint }
  >();
  for (const { item, hold, bill } of admitted) {
    const key = hold === null ? `${item.capability}\n${item.principal.id}` : hold.authorized.holdId;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { item, hold, requests: 1, units: bill.units, amount: bill.amount });
    else {
      sum.requests += 1;
      sum.units += bill.units;
      sum.amount += bill.amount;
    }
  }
  let running = balance;
  return [...sums.values()].map(({ item, hold, requests, units, amount }, i) => {
    if (hold === null) running -= amount;
    return {
      accountId: item.accountId,
      kind: hold === null ? 'charge' : 'hold',
      capability: item.capability,
      keyId: item.principal.id,
      requests,
      units: hold === null ? units : 0n,
      priceVersion: item.priceVersion,
      amount: hold === null ? -amount : 0n,
      balanceAfter: running,
      reference: hold?.authorized.holdId ?? null,
      seq: firstSeq + BigInt(i),
    };
  });
}

function walletAfter(wallet: WalletRow, admission: { charged: bigint; held: bigint }, lastSeq: bigint): WalletRow {
  const { charged, held } = admission;
  return {
    ...wallet,
    balance_nanos: wallet.balance_nanos - charged,
    held_nanos: wallet.held_nanos + held,
    last_seq: lastSeq,
    day_used_nanos: wallet.day_used_nanos + charged,
    day_held_nanos: wallet.day_held_nanos + held,
    month_used_nanos: wallet.month_used_nanos + charged,
    month_held_nanos: wallet.month_held_nanos + held,
  };
}
