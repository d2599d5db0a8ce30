// Builds the module's state for one process, including the batchers by which calls of one queue share statements.
import { AccountPlaces } from '../../core/account-places.ts';
import type { Services } from '../../kit/services.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import { ackMessages } from './consume/ack.ts';
import { claimFor } from './consume/consume.ts';
import { Waiters, WaitingLook } from './consume/waiting.ts';
import { MessageIds, type MessageRef } from './messages/message-id.ts';
import { PublishEffect } from './publish/effect.ts';
import { PushDispatcher } from './push/dispatcher.ts';
import { QueueCache } from './queues/cache.ts';
import { type QueueStats, readStats } from './queues/stats.ts';
import type { QueueBase, QueueState } from './state.ts';

// Calls that share one statement. More only delays the first of them.
const CONSUMES_PER_CLAIM = 16;
const ACKS_PER_DELETE = 128;
const STATS_PER_READ = 1_000;

export function createQueueState(core: Services): QueueState {
  const ids = new MessageIds(core.secrets);
  const cache = new QueueCache(core.db.hot);
  const waiters = new Waiters(core.siblings);
  const publishing = new PublishEffect(ids, (accountId, queue, messages) =>
    waiters.wake(`${accountId}\n${queue}`, messages),
  );
  new WaitingLook({
    db: core.db,
    waiters,
    onFailure: (err) => core.log.warn({ err }, 'queues that consumers wait for could not be looked at'),
  });
  const claiming = new AccountPlaces(core.bounds.all.claimsAtOnce, { alone: 'all' });
  const base = { core, ids, cache, waiters, publishing };
  const acking = new Coalescer<readonly MessageRef[], boolean[]>({
    batchMax: ACKS_PER_DELETE,
    run: (key, calls) => ackTogether(base, key, calls),
  });
  return {
    ...base,
    acking,
    push: new PushDispatcher({ ...base, acking }),
    consuming: new Coalescer({
      batchMax: CONSUMES_PER_CLAIM,
      run: (key, calls) => claiming.run(accountOf(key), null, () => claimFor(base, key, calls)),
    }),
    counting: new Coalescer({
      batchMax: STATS_PER_READ,
      run: (key, readers) => readTogether(base, key, readers.length),
    }),
  };
}

const accountOf = (key: string) => key.slice(0, key.indexOf('\n'));

async function ackTogether(
  { core, cache, waiters }: QueueBase & Pick<QueueState, 'waiters'>,
  key: string,
  calls: readonly (readonly MessageRef[])[],
): Promise<boolean[][]> {
  const [accountId = '', name = ''] = key.split('\n');
  const refs = calls.flat();
  const acked = await cache.with(accountId, name, async (queue) => {
    const results = await ackMessages(core.db, queue, refs);
    // Nothing matched: perhaps because the queue is another one by now.
    if (results.includes(true) || (await cache.refresh(accountId, name)).queue_id === queue.queue_id) {
      const acknowledged = results.filter(Boolean).length;
      // A FIFO group may be free now.
      if (acknowledged > 0 && queue.type === 'fifo') waiters.wake(key, acknowledged);
      return results;
    }
    return 'stale';
  });
  let at = 0;
  return calls.map((call) => {
    at += call.length;
    return acked.slice(at - call.length, at);
  });
}

async function readTogether({ core, cache, ids }: QueueBase, key: string, readers: number): Promise<QueueStats[]> {
  const [accountId = '', name = ''] = key.split('\n');
  const stats = await readStats(core.db, ids, await cache.refresh(accountId, name));
  return new Array<QueueStats>(readers).fill(stats);
}
