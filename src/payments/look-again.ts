// Something at the provider may have changed: whatever of ours it is of is due now. All that a message, a page or a payer's return may do.
import type { Database, Transaction } from '../db/database.ts';
import { hintSetup } from './methods/setups.ts';
import { hintAttempt } from './recharge/work.ts';
import { findRef, type PaymentOwner } from './refs.ts';
import { hintSubscription } from './subscriptions/check.ts';
import { hintTopup } from './topups/check.ts';

const hints: Partial<Record<PaymentOwner['kind'], (tx: Transaction, accountId: string, id: string) => Promise<void>>> =
  {
    topup: hintTopup,
    setup: hintSetup,
    recharge: hintAttempt,
    subscription: hintSubscription,
  };

/** By a ref of the provider, or an id of ours that was kept as one. Answers whose it is; null: nobody's here. */
export async function lookAgain(db: Database, ref: string): Promise<PaymentOwner | null> {
  const owner = await findRef(db, ref);
  const hint = owner === null ? undefined : hints[owner.kind];
  if (owner !== null && hint !== undefined) await db.transaction((tx) => hint(tx, owner.accountId, owner.id));
  return owner;
}
