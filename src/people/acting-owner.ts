// Checks an owner who changes an account's people from a page: session and ownership are read again under the account's lock. If either has
// ended, nothing changes.

import { lockAccount } from '../core/callers/lock.ts';
import { type Principal, readLivePrincipals } from '../core/callers/principal.ts';
import { textArray } from '../db/arrays.ts';
import type { Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';

export interface ActingOwner {
  readonly personId: string;
  readonly sessionId: string;
  /** Of the session. */
  readonly principal: Principal;
}

// Signing out deletes the row, and waits for this.
const keepSession = statement(
  'session_keep',
  'SELECT s.session_id FROM core.session s WHERE s.session_id = $1 FOR KEY SHARE',
);

/** Locks the account. Answers the time after the lock; null: the session has ended, or its person owns the account no more. */
export async function enterAsOwner(tx: Transaction, { sessionId, principal }: ActingOwner): Promise<number | null> {
  const { accountId } = principal;
  const [nowMs, , live] = await Promise.all([
    lockAccount(tx, accountId),
    tx.query(keepSession, [sessionId]),
    readLivePrincipals(tx, textArray([accountId]), [principal]),
  ]);
  // Of people only owners have no scopes that bound them.
  const owns = live.get(principal)?.scopes === null;
  return owns ? nowMs : null;
}
