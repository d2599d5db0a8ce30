// Outcome of a pushed message: acknowledged, returned with a delay, or taken back because nothing was sent.

import { clockNow } from '../../../core/database-clock.ts';
import { exactBackoffMs } from '../../../lib/backoff.ts';
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
  });
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

// When a message that its receiver did not take is pushed again (contract of queue).

const BACKOFF = { firstMs: 5_000, maxMs: 15 * 60_000 };
// A receiver that asks for no pause at all would be called in a tight loop.
const ASKED_MIN_MS = 1_000;

/**
 * Milliseconds until the next delivery: 5 s, doubled with every delivery so far, at most 15 min; or what the receiver asked for
 * by Retry-After (`askedMs`), between 1 s and 15 min.
 */
export function retryDelayMs(deliveries: number, askedMs: number | null): number {
  if (askedMs !== null) return Math.min(Math.max(askedMs, ASKED_MIN_MS), BACKOFF.maxMs);
  return exactBackoffMs(BACKOFF, deliveries);
}
