// Checks of the service's rows at the payment provider, one loop for each kind. A row is due by its schedule, or at once when a hint says it
// may have changed. Then the provider is asked, and the answer judged and applied under the account's lock. There is no other way, so lost,
// repeated or late messages do no harm.
import type { DueTable } from '../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../core/background/due-work.ts';
import type { JobLoop } from '../core/background/job-loop.ts';
import { openTurn } from '../core/background/turns.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Transaction } from '../db/database.ts';
import { setupDue } from './methods/setup-store.ts';
import { checkSetup, SETUPS_WORK } from './methods/setups.ts';
import { checkReturns, returnsDue } from './recharge/returns.ts';
import { RETURNS_WORK } from './recharge/settle.ts';
import { hintAttempt } from './recharge/work.ts';
import type { PaymentOwner } from './refs.ts';
import { SUBSCRIPTIONS_WORK } from './subscriptions/apply.ts';
import { checkSubscriptionAttempt } from './subscriptions/check.ts';
import { subscriptionDue } from './subscriptions/store.ts';
import { checkTopup } from './topups/check.ts';
import { type PaymentCore, TOPUPS_WORK } from './topups/create.ts';
import { topupDue } from './topups/store.ts';

const PER_CLAIM = 4;

interface Checked {
  /** As core.turn and the metrics name it. */
  readonly work: string;
  readonly due: DueTable;
  /** At once on a process. */
  readonly places: number;
  /** Reads it at the provider, judges the answer and applies it. Throws PaymentProviderError: then it is due again. */
  check(core: PaymentCore, job: LeasedJob): Promise<unknown>;
  /** What a hint is for beside. */
  alsoHint?(tx: Transaction, accountId: string, id: string): Promise<void>;
}

const kinds: Readonly<Record<PaymentOwner['kind'], Checked>> = {
  topup: { work: TOPUPS_WORK, due: topupDue, places: 4, check: checkTopup },
  subscription: { work: SUBSCRIPTIONS_WORK, due: subscriptionDue, places: 4, check: checkSubscriptionAttempt },
  setup: { work: SETUPS_WORK, due: setupDue, places: 2, check: checkSetup },
  // A charge that is not decided is due in the wallet's row, and what went back of one that was made in its own.
  recharge: { work: RETURNS_WORK, due: returnsDue, places: 2, check: checkReturns, alsoHint: hintAttempt },
};

export function paymentChecks(core: PaymentCore): JobLoop[] {
  return Object.values(kinds).map(({ work, due, places, check }) =>
    dueWork<LeasedJob>(core, {
      name: work,
      places,
      perClaim: PER_CLAIM,
      claim: due.claim,
      run: async (job) => {
        await check(core, job);
      },
      putBack: due.setDue,
    }),
  );
}

/** Something of it may have changed at the provider's: it is read as soon as a process can. */
export async function hintCheck(tx: Transaction, { accountId, kind, id }: PaymentOwner): Promise<void> {
  const { work, due, alsoHint } = kinds[kind];
  await alsoHint?.(tx, accountId, id);
  const nowMs = await clockNow(tx);
  const attempt = await due.makeDue(tx, accountId, id, nowMs);
  if (attempt !== null) await openTurn(tx, accountId, work, nowMs);
}
