// Claims of push: the same as those of consume, bound to the queue that the subscription was made for.
import { LEASE_MARGIN_SECONDS } from '../../../core/outbound/long-calls.ts';
import type { ClaimedRow } from '../consume/claim.ts';
import { claimFifoTogether, claimStandard } from '../consume/consume.ts';
import type { QueueRow } from '../queues/records.ts';
import type { QueueBase } from '../state.ts';
import type { LeasedSubscription } from './subscription-store.ts';

/**
 * Leases up to `limit` messages for a subscription. Of a FIFO group only its head: the next one is sent when this one is acknowledged or given back.
 * Throws QUEUE_NOT_FOUND when the queue is gone.
 */
export async function claimForPush(
  base: QueueBase,
  subscription: LeasedSubscription,
  limit: number,
): Promise<ClaimedRow[]> {
  const { account_id: accountId, queue: name } = subscription;
  return base.cache.with(accountId, name, async (queue) => {
    if (queue.queue_id === subscription.queue_id) {
      const rows = await claimNow(base, queue, limit, leaseSeconds(subscription, queue));
      if (rows.length > 0) return rows;
    }
    const fresh = await base.cache.refresh(accountId, name);
    return fresh.queue_id === queue.queue_id && fresh.revision === queue.revision ? [] : 'stale';
  });
}

function leaseSeconds(subscription: LeasedSubscription, queue: QueueRow): number {
  const least = subscription.timeout_seconds + LEASE_MARGIN_SECONDS;
  return subscription.visibility_timeout ?? Math.max(queue.visibility_timeout_default, least);
}

async function claimNow(base: QueueBase, queue: QueueRow, limit: number, seconds: number): Promise<ClaimedRow[]> {
  if (queue.type === 'standard') return claimStandard(base, queue, limit, seconds);
  const [rows = []] = await claimFifoTogether(base, queue, [limit], { leaseSeconds: seconds, perGroupMax: 1 });
  return rows;
}
