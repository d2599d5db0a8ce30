// Which calls a wallet can pay for. Pure: no clock, no database; property-tested.
// Items are taken in order; a refused one does not block a smaller later one; nothing is ever overdrawn.

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
  readonly grants: readonly OpenGrant[];
  readonly budget: BudgetWindow | null;
  /** Charged plus held in the budget window so far. */
  readonly committed: bigint;
}

export interface Ask {
  readonly amount: bigint;
  readonly mode: 'charge' | 'hold';
}

export interface GrantPart {
  readonly grantId: string;
  readonly amount: bigint;
}

export type Verdict =
  | { readonly admitted: true; readonly spendableAfter: bigint; readonly parts: readonly GrantPart[] }
  | { readonly admitted: false; readonly reason: 'balance' | BudgetWindow['reason']; readonly retryAfterMs?: number };

export interface Admission {
  /** In the order of the asks. */
  readonly verdicts: readonly Verdict[];
  /** The grants afterwards, in the order given. */
  readonly grants: readonly OpenGrant[];
  readonly charged: bigint;
  readonly held: bigint;
}

/** What a grant can still pay. */
export function freeOf(grant: OpenGrant): bigint {
  return grant.remaining - grant.reserved;
}

/** Decides on each ask. `nowMs` only dates the retry hint of a budget refusal. */
export function admit(funds: Funds, asks: readonly Ask[], nowMs: number): Admission {
  const grants = funds.grants.map((grant) => ({ ...grant }));
  let spendable = grants.reduce((sum, grant) => sum + freeOf(grant), 0n);
  let charged = 0n;
  let held = 0n;
  const verdicts = asks.map((ask): Verdict => {
    if (exceedsBudget(funds, charged + held + ask.amount)) {
      const budget = funds.budget as BudgetWindow;
      return { admitted: false, reason: budget.reason, retryAfterMs: Math.max(0, budget.endsAtMs - nowMs) };
    }
    if (ask.amount > spendable) return { admitted: false, reason: 'balance' };
    const parts = take(grants, ask);
    spendable -= ask.amount;
    if (ask.mode === 'charge') charged += ask.amount;
    else held += ask.amount;
    return { admitted: true, spendableAfter: spendable, parts };
  });
  return { verdicts, grants, charged, held };
}

function exceedsBudget(funds: Funds, additional: bigint): boolean {
  if (funds.budget === null) return false;
  // A cap of zero blocks every billable call, also one that would cost nothing.
  return funds.budget.cap === 0n || funds.committed + additional > funds.budget.cap;
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
