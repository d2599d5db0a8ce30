import { getOf } from '../../../kit/resource.ts';
import { queues } from '../queues/resource.ts';

export const get = getOf(queues, {
  path: '/v1/queue/get/{queue}',
  summary: 'Shows the settings of a queue.',
  description: 'The settings of one queue. For its message counts ask stats.',
  keywords: ['queue settings', 'queue attributes', 'describe queue'],
  examples: [
    {
      title: 'One queue',
      before: [{ capability: 'queue.create', input: { name: 'jobs' } }],
      input: { queue: 'jobs' },
      expect: { name: 'jobs' },
    },
  ],
});
