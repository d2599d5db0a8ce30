// Termination of all connections of a user: a message in the user's channel, which every process reads in sequence.
import type { Transaction } from '../../../db/database.ts';
import { nextSequence } from '../../../lib/sequence.ts';
import { userChannel } from '../pusher/channels.ts';
import { TERMINATE } from '../pusher/hub.ts';
import { insertOwnMessages } from './messages.ts';
import { lockAccount, writeSequence } from './store.ts';

/** The caller has entered the account. */
export async function terminateUser(tx: Transaction, accountId: string, userId: string, nowMs: number): Promise<void> {
  const lastSeq = await lockAccount(tx, accountId);
  if (lastSeq === null) return;
  const seq = nextSequence(lastSeq, nowMs);
  insertOwnMessages(tx, accountId, [{ seq, channel: userChannel(userId), event: TERMINATE, data: '{}' }]);
  await writeSequence(tx, accountId, seq);
}
