// State of the queue module in one process.
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { CallContext, Services } from '../../kit/services.ts';
import type { Coalescer } from '../../lib/coalesce.ts';
import type { ClaimedRow } from './consume/claim.ts';
import type { Waiters } from './consume/waiting.ts';
import type { MessageIds, MessageRef } from './messages/message-id.ts';
import type { PublishEffect } from './publish/effect.ts';
import type { QueueCache } from './queues/cache.ts';
import type { QueueStats } from './queues/stats.ts';

/** A consume that waits for its share of a claim. */
export interface ConsumeCall {
  /** How many it wants. */
  readonly messages: number;
  readonly ctx: Pick<CallContext, 'requireAnswerRoom' | 'holdMade'>;
}

/** Push, as the rest of the module knows it. */
interface Push {
  readonly loops: readonly JobLoop[];
  /** Nothing more is sent for the subscription by this process. */
  end(subscriptionId: string): void;
  close(): void;
}

export interface QueueState {
  readonly core: Services;
  readonly ids: MessageIds;
  readonly cache: QueueCache;
  readonly waiters: Waiters;
  readonly publishing: PublishEffect;
  /** Keyed by account, queue and visibility timeout; an item is a call that wants messages. */
  readonly consuming: Coalescer<ConsumeCall, ClaimedRow[]>;
  /** Keyed by account and queue. */
  readonly acking: Coalescer<readonly MessageRef[], boolean[]>;
  /** Keyed by account and queue: many readers share one reading that began after they asked. */
  readonly counting: Coalescer<null, QueueStats>;
  readonly push: Push;
}

export type QueueBase = Pick<QueueState, 'core' | 'ids' | 'cache'>;

export function queueKey(accountId: string, queue: string): string {
  return `${accountId}\n${queue}`;
}
