// Poll once a second for messages that hints missed: finds the accounts followed in this process that have unread messages.
import type { Database } from '../../../db/database.ts';
import { findUnreadAccounts } from '../publish/store.ts';
import type { Feeds } from './feed.ts';

export const POLL_MS = 1_000;
const ACCOUNTS_PER_STATEMENT = 500;

/** Wakes the feeds that have something to read and were not read for a second. */
export async function lookForMissed(db: Database, feeds: Feeds, nowMs: number): Promise<void> {
  const idle = feeds.idle(nowMs - POLL_MS);
  const size = db.distributed ? 1 : ACCOUNTS_PER_STATEMENT;
  for (let at = 0; at < idle.length; at += size) {
    for (const accountId of await findUnreadAccounts(db, idle.slice(at, at + size))) feeds.wake(accountId);
  }
}
