// Simulation of auto-recharge over the daily spend of a past month. It starts from the balance just after a charge,
// because past balances did not follow this plan.

export interface Plan {
  readonly trigger: number;
  readonly amount: number;
  readonly perDay: number;
  readonly perMonth: number;
  /** USD a month. */
  readonly limit: number;
}

export interface Charges {
  readonly times: number;
  readonly usd: number;
  /** Days that could not be paid for, since the caps were reached. */
  readonly shortDays: number;
}

/** `days`: spend of each day of one calendar month, USD. */
export function chargesOf({ trigger, amount, perDay, perMonth, limit }: Plan, days: readonly number[]): Charges {
  let balance = trigger + amount;
  let times = 0;
  let shortDays = 0;
  for (const spent of days) {
    balance -= spent;
    const wanted = balance < trigger ? Math.ceil((trigger - balance) / amount) : 0;
    const allowed = Math.min(perDay, perMonth - times, Math.floor((limit - times * amount) / amount));
    const now = Math.max(0, Math.min(wanted, allowed));
    times += now;
    balance += now * amount;
    if (balance < 0) shortDays += 1;
    // What could not be paid for was not spent.
    balance = Math.max(0, balance);
  }
  return { times, usd: times * amount, shortDays };
}
