// Hints from the provider: the row that a hint names is due for a check now. Messages, pages and a payer's return may do nothing else.
import type { Database } from '../db/database.ts';
import { hintCheck } from './checks.ts';
import { findRef, type PaymentOwner } from './refs.ts';

/** By a ref of the provider, or an id of ours that was kept as one. Answers whose it is; null: nobody's here. */
export async function lookAgain(db: Database, ref: string): Promise<PaymentOwner | null> {
  const owner = await findRef(db, ref);
  if (owner !== null) await db.transaction((tx) => hintCheck(tx, owner));
  return owner;
}
