import { listOf } from '../../../kit/resource.ts';
import { queues } from '../queues/resource.ts';

export const list = listOf(queues, {
  path: '/v1/queue/list',
  description: 'Queues by name, page by page.',
  keywords: ['list queues', 'show all queues'],
  examples: [{ title: 'The first queues', input: { limit: 10 }, expect: { has_more: false } }],
});
