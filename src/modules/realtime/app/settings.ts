// Realtime settings of an account.
import type { Queryable } from '../../../db/database.ts';
import { HISTORY_SECONDS } from '../limits.ts';
import { findAppRow } from './store.ts';

/** How long the account's messages can be read again. */
export async function historySecondsOf(db: Queryable, accountId: string): Promise<number> {
  return (await findAppRow(db, accountId))?.history_seconds ?? HISTORY_SECONDS.usual;
}
