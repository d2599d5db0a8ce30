// Admission of calls against a wallet. Pure: no clock, no database; property-tested. Items are taken in order; a refused one does not block a
// smaller later one; nothing is ever overdrawn.
import type { KeySpend, SpendCap } from '../../callers/key-cap.ts';

/** A grant that may be spent: unexpired, in spending order (promotional first, then earliest expiry). Nano-USD. */
export interface OpenGrant {
  readonly grantId: string;
  readonly remaining: bigint;
  readonly reserved: bigint;
}

/** The budget window in force. `used` and `held` are what was charged and is held in it, nano-USD. */
export interface BudgetWindow {
  readonly reason: 'budget_daily' | 'budget_monthly';
  readonly cap: bigint;
  readonly endsAtMs: number;
}

export interface Funds {
  /** A payment is disputed or owed: nothing is charged until that is settled. */
  readonly frozen: boolean;
  readonly grants: readonly OpenGrant[];
  readonly budget: BudgetWindow | null;
  /** Charged plus held in the budget window so far. */
  readonly committed: bigint;
  /** Of the keys that have one. */
  readonly keyCaps: readonly SpendCap[];
}

export interface Ask {
  readonly keyId: string;
  readonly amount: bigint;
  readonly mode: 'charge' | 'hold';
}

export interface GrantPart {
  readonly grantId: string;
  readonly amount: bigint;
}

export interface Refusal {
  readonly admitted: false;
  readonly reason: 'frozen' | 'key_cap' | BudgetWindow['reason'] | 'balance';
  /** What the key's cap, the budget or the wallet had left at that point. */
  readonly left: bigint;
  /** Null for the wallet. */
  readonly cap: bigint | null;
  /** When the window ends that is used up; null: it never does. */
  readonly endsAtMs: number | null;
}

export type Verdict =
  | { readonly admitted: true; readonly spendableAfter: bigint; readonly parts: readonly GrantPart[] }
  | Refusal;

export interface Admission {
  /** In the order of the asks. */
  readonly verdicts: readonly Verdict[];
  /** The grants afterwards, in the order given. */
  readonly grants: readonly OpenGrant[];
  readonly charged: bigint;
  readonly held: bigint;
  /** Of the keys that have a cap. */
  readonly keySpends: readonly KeySpend[];
}

/** What a grant can still pay. */
export function freeOf(grant: OpenGrant): bigint {
  return grant.remaining - grant.reserved;
}

/** Decides on each ask. */
export function admit(funds: Funds, asks: readonly Ask[]): Admission {
  const grants = funds.grants.map((grant) => ({ ...grant }));
  const tallies = new Map(funds.keyCaps.map((cap) => [cap.keyId, { ...cap, charged: 0n, held: 0n }]));
  const budget = funds.budget === null ? null : { ...funds.budget, committed: funds.committed };
  let spendable = grants.reduce((sum, grant) => sum + freeOf(grant), 0n);
  let charged = 0n;
  let held = 0n;
  const verdicts = asks.map((ask): Verdict => {
    if (funds.frozen) return { admitted: false, reason: 'frozen', left: 0n, cap: null, endsAtMs: null };
    const tally = tallies.get(ask.keyId);
    const refusal =
      (tally === undefined ? null : exceeds('key_cap', tally, tally.charged + tally.held, ask)) ??
      (budget === null ? null : exceeds(budget.reason, budget, charged + held, ask));
    if (refusal !== null) return refusal;
    if (ask.amount > spendable)
      return { admitted: false, reason: 'balance', left: spendable, cap: null, endsAtMs: null };
    const parts = take(grants, ask);
    spendable -= ask.amount;
    if (ask.mode === 'charge') charged += ask.amount;
    else held += ask.amount;
    if (tally !== undefined) tally[ask.mode === 'charge' ? 'charged' : 'held'] += ask.amount;
    return { admitted: true, spendableAfter: spendable, parts };
  });
  const keySpends = [...tallies.values()].filter((tally) => tally.charged > 0n || tally.held > 0n);
  return { verdicts, grants, charged, held, keySpends };
}

interface Limit {
  readonly cap: bigint;
  readonly committed: bigint;
  readonly endsAtMs: number | null;
}

/** The refusal of what a limit does not leave room for; `admitted`: what it has taken in this batch. */
function exceeds(reason: Refusal['reason'], limit: Limit, admitted: bigint, ask: Ask): Refusal | null {
  const { cap, committed, endsAtMs } = limit;
  const left = cap - committed - admitted;
  // A cap of zero blocks every billable call, also one that would cost nothing.
  if (cap > 0n && ask.amount <= left) return null;
  return { admitted: false, reason, left: left > 0n ? left : 0n, cap, endsAtMs };
}

interface MutableGrant {
  readonly grantId: string;
  remaining: bigint;
  reserved: bigint;
}

// The caller has checked that the grants cover the amount together.
function take(grants: readonly MutableGrant[], ask: Ask): GrantPart[] {
  const parts: GrantPart[] = [];
  let missing = ask.amount;
  for (const grant of grants) {
    if (missing === 0n) break;
    const free = freeOf(grant);
    if (free === 0n) continue;
    const amount = free < missing ? free : missing;
    if (ask.mode === 'charge') grant.remaining -= amount;
    else grant.reserved += amount;
    parts.push({ grantId: grant.grantId, amount });
    missing -= amount;
  }
  return parts;
}
