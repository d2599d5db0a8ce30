// Checks an owner, or the operator, who changes an account's people from a page: session and ownership are read again under the account's lock. If either has
// ended, nothing changes.

import { lockAccount } from '../core/callers/lock.ts';
import { type Principal, readLivePrincipals } from '../core/callers/principal.ts';
import { OPERATOR_MODULE } from '../core/callers/scopes.ts';
import { textArray } from '../db/arrays.ts';
import type { Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';

/** Who invites in the place of an owner: the operator of the service. */
export const OPERATOR = 'operator';

export interface ActingOwner {
  /** The person, or OPERATOR. */
  readonly personId: string;
  readonly sessionId: string;
  /** Of the session. */
  readonly principal: Principal;
  /** Whose people are changed: the session's own, and the operator's choice. */
  readonly accountId: string;
}

// Signing out deletes the row, and waits for this.
const keepSession = statement(
  'session_keep',
  'SELECT s.session_id FROM core.session s WHERE s.session_id = $1 FOR KEY SHARE',
);

/** Locks the account. Answers the time after the lock; null: the session has ended, or its person owns the account no more. */
export async function enterAsOwner(
  tx: Transaction,
  { sessionId, principal, accountId }: ActingOwner,
): Promise<number | null> {
  const [nowMs, , live] = await Promise.all([
    lockAccount(tx, accountId),
    tx.query(keepSession, [sessionId]),
    readLivePrincipals(tx, textArray([principal.accountId]), [principal]),
  ]);
  // Of people only owners have no scopes that bound them; the operator's session has the operator's.
  const scopes = live.get(principal)?.scopes;
  if (scopes?.includes(OPERATOR_MODULE) === true) return nowMs;
  return scopes === null && accountId === principal.accountId ? nowMs : null;
}
