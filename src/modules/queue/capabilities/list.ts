import { listOf } from '../../../kit/resource.ts';
import { queues } from '../queues/resource.ts';
import { listQueues } from '../queues/store.ts';
import { queueSchema } from '../schemas.ts';

export const list = listOf('queue', {
  path: '/v1/queue/list',
  description: 'Queues by name, page by page.',
  keywords: ['list queues', 'show all queues'],
  examples: [{ title: 'The first queues', input: { limit: 10 }, expect: { has_more: false } }],
  list: (db, { accountId }, { after, limit }) => listQueues(db, accountId, after ?? '', limit),
  positionOf: ({ name }) => name,
  item: queueSchema,
  show: queues.show,
});
