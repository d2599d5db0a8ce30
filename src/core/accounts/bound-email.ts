// The gate of what brings money in: somebody can be reached about it.
import type { Queryable } from '../../db/database.ts';
import { problem } from '../../problems/problem.ts';
import { findAccount } from './accounts.ts';

/** Throws EMAIL_BINDING_REQUIRED unless the account has a verified e-mail address. */
export async function requireBoundEmail(db: Queryable, accountId: string): Promise<void> {
  const account = await findAccount(db, accountId);
  if (account?.emailBound !== true) throw problem('EMAIL_BINDING_REQUIRED');
}
