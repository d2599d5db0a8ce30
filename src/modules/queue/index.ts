// The queue module: durable queues with leases, priority, FIFO groups, delays, dead-letter queues and exact counts.

import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { queueSource } from './alert-source.ts';
import { ack } from './capabilities/ack.ts';
import { batchPublish } from './capabilities/batch-publish.ts';
import { consume } from './capabilities/consume.ts';
import { create } from './capabilities/create.ts';
import { remove } from './capabilities/delete.ts';
import { dlqList } from './capabilities/dlq/list.ts';
import { dlqRedrive } from './capabilities/dlq/redrive.ts';
import { dlqRedriveCancel } from './capabilities/dlq/redrive-cancel.ts';
import { dlqRedrives } from './capabilities/dlq/redrives.ts';
import { extend } from './capabilities/extend.ts';
import { get } from './capabilities/get.ts';
import { list } from './capabilities/list.ts';
import { nack } from './capabilities/nack.ts';
import { peek } from './capabilities/peek.ts';
import { publish } from './capabilities/publish.ts';
import { purge } from './capabilities/purge.ts';
import { samples } from './capabilities/samples.ts';
import { stats } from './capabilities/stats.ts';
import { subscribe } from './capabilities/subscribe.ts';
import { subscriptions } from './capabilities/subscriptions.ts';
import { unsubscribe } from './capabilities/unsubscribe.ts';
import { update } from './capabilities/update.ts';
import { queueEvents } from './events.ts';
import { queueLimits } from './limits.ts';
import { queueProblems } from './problems.ts';
import { namingNearQueues } from './queues/near.ts';
import { sqsRoutes } from './sqs/routes.ts';
import { createQueueState } from './start.ts';
import type { QueueState } from './state.ts';
import { queueSweeps } from './sweeps.ts';

export const queue = defineModule<QueueState>({
  name: 'queue',
  summary: 'Durable message queues: standard, priority and FIFO, with delays, leases and dead-letter queues.',
  status: 'ga',
  shownBy: ['queue.ack', 'queue.dlq.redrive'],
  capabilities: [
    create,
    get,
    list,
    update,
    remove,
    purge,
    stats,
    samples,
    publish,
    batchPublish,
    consume,
    ack,
    nack,
    extend,
    peek,
    dlqList,
    dlqRedrive,
    dlqRedrives,
    dlqRedriveCancel,
    subscribe,
    subscriptions,
    unsubscribe,
  ].map(namingNearQueues),
  finders: [finder('queue', list, ({ name }) => ({ id: name, name, path: `/queues/${encodeURIComponent(name)}` }))],
  alertSources: [queueSource],
  console: async () => (await import('./console/index.ts')).queueConsole,
  rawRoutes: sqsRoutes,
  clients: [
    {
      client: 'Amazon SQS clients (AWS SDKs, boto3, sqs-consumer, celery)',
      address: '{base_url}/sqs',
      use: 'the queues, by both protocols; credentials by `qm keys aws`',
      serves: [
        'queue.create',
        'queue.get',
        'queue.list',
        'queue.update',
        'queue.delete',
        'queue.purge',
        'queue.stats',
        'queue.publish',
        'queue.batch.publish',
        'queue.consume',
        'queue.ack',
        'queue.nack',
        'queue.extend',
        'queue.dlq.redrive',
        'queue.dlq.redrives',
        'queue.dlq.redrive_cancel',
      ],
    },
  ],
  events: queueEvents,
  problems: queueProblems,
  prices: { 'queue.publish': { unit: 'message', nanosPerUnit: 20_000n } },
  limits: queueLimits,
  start: createQueueState,
  async stop(state) {
    state.waiters.stop();
    state.push.close();
  },
  isEmpty: noRowIn('queue.queue'),
  sweeps: queueSweeps,
  jobs: (state) => state.push.loops,
});
