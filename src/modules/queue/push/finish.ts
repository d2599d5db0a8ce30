// Outcome of a pushed message: acknowledged, returned with a delay, or taken back because nothing was sent.

import { clockNow } from '../../../core/database-clock.ts';
import { retryDelayMs } from '../../../core/outbound/retry-delay.ts';
import { retryAfterMs } from '../../../lib/retry-after.ts';
import { Problem } from '../../../problems/problem.ts';
import type { OutboundOutcome } from '../../../vendors/http/port.ts';
import type { ClaimedRow } from '../consume/claim.ts';
import { nackMessages } from '../consume/nack.ts';
import { lockGroupsOf, refreshGroups } from '../fifo/store.ts';
import { undeliver } from '../messages/store.ts';
import { holdQueueById } from '../queues/store.ts';
import { type QueueState, queueKey } from '../state.ts';
import type { LeasedSubscription } from './subscription-store.ts';

export type PushState = Pick<QueueState, 'core' | 'ids' | 'cache' | 'waiters' | 'acking'>;

/** 2xx acknowledges; everything else gives the message back, under the rules of the queue. An attempt we ended ourselves is repeated at once. */
export async function finishPushed(
  state: PushState,
  subscription: LeasedSubscription,
  row: ClaimedRow,
  outcome: OutboundOutcome,
): Promise<void> {
  const { account_id: accountId, queue: name } = subscription;
  const ref = { seq: row.seq, attempt: row.attempt };
  if (isSuccess(outcome)) {
    await ignoreDeletedQueue(() => state.acking.add(queueKey(accountId, name), [ref]));
    return;
  }
  await ignoreDeletedQueue(async () => {
    const queue = await state.cache.get(accountId, name);
    const delayMs = delayAfter(outcome, row);
    const options = { ids: state.ids, delayMs, requeue: true, reason: null, requestId: null };
    const [result] = await nackMessages(state.core.db, queue, [ref], options);
    if (result?.status === 'available' && delayMs === 0) state.waiters.wake(queueKey(accountId, name), 1);
  });
}

/** Claims of which nothing was sent: available again, not counted as deliveries. */
export async function takeBack(
  { core, waiters }: PushState,
  subscription: LeasedSubscription,
  rows: readonly ClaimedRow[],
): Promise<void> {
  const { account_id: accountId, queue_id: queueId } = subscription;
  await core.db.transaction(async (tx) => {
    const queue = await holdQueueById(tx, accountId, queueId);
    if (queue === null) return;
    const seqs = rows.map((row) => row.seq);
    const groups = queue.type === 'fifo' ? await lockGroupsOf(tx, accountId, queueId, seqs) : [];
    const nowMs = await clockNow(tx);
    await undeliver(tx, queue, new Map(rows.map((row) => [row.seq, row.attempt])), nowMs);
    await refreshGroups(tx, accountId, queueId, groups);
  }, accountId);
  waiters.wake(queueKey(accountId, subscription.queue), rows.length);
}

function isSuccess(outcome: OutboundOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

function delayAfter(outcome: OutboundOutcome, row: ClaimedRow): number {
  if (outcome.kind === 'failed') return outcome.code === 'aborted' ? 0 : retryDelayMs(row.received, null);
  return retryDelayMs(row.received, retryAfterMs(outcome.retryAfter, Date.now()));
}

/** A queue deleted meanwhile took its messages with it: nothing is left to write. */
async function ignoreDeletedQueue(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'QUEUE_NOT_FOUND')) throw error;
  }
}
