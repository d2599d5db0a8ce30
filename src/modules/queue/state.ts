// What the queue module keeps in one process.
import type { Core } from '../../core/context.ts';
import type { Coalescer } from '../../lib/coalesce.ts';
import type { ClaimedRow } from './consume/claim.ts';
import type { ConsumeCall } from './consume/consume.ts';
import type { Waiters } from './consume/waiting.ts';
import type { MessageIds, MessageRef } from './messages/message-id.ts';
import type { PublishEffect } from './publish/effect.ts';
import type { PushDispatcher } from './push/dispatcher.ts';
import type { QueueCache } from './queues/cache.ts';
import type { QueueStats } from './queues/stats.ts';

export interface QueueState {
  readonly core: Core;
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
  readonly push: PushDispatcher;
}

export type QueueBase = Pick<QueueState, 'core' | 'ids' | 'cache'>;

export function queueKey(accountId: string, queue: string): string {
  return `${accountId}\n${queue}`;
}
