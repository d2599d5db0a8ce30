// What alerts watch of a queue: its depth, the age of its oldest message, and its dead letters, as queue.stats tells them.
import Type from 'typebox';
import { alertSource } from '../../kit/alert-source.ts';
import { problem } from './problems.ts';
import { findQueue } from './queues/store.ts';
import { readSamples } from './samples/read.ts';
import { queueName } from './schemas.ts';
import { type QueueState, queueKey } from './state.ts';

const measures = ['depth', 'age', 'dead'] as const;
const measured = {
  depth: 'message_count',
  age: 'oldest_message_age_seconds',
  dead: 'dlq_count',
} as const;

export const queueSource = alertSource<QueueState>()({
  name: 'queue',
  capability: 'queue.stats',
  by: [],
  errors: ['QUEUE_NOT_FOUND'],
  schema: Type.Object(
    {
      queue: queueName('Name of the queue.'),
      measure: Type.Enum([...measures], {
        description:
          'depth: messages that wait or are in flight; age: of the oldest message, in seconds; dead: messages in its dead-letter queue.',
      }),
    },
    { description: 'A number of a queue.' },
  ),
  async check({ core }, { accountId }, { when: { queue } }) {
    if ((await findQueue(core.db, accountId, queue)) !== null) return [];
    throw problem('QUEUE_NOT_FOUND', { param: 'queue', message: `There is no queue ${queue}.` });
  },
  async look({ counting }, { accountId, when: { queue, measure } }) {
    const stats = await counting.add(queueKey(accountId, queue), null);
    return [{ labels: {}, value: stats[measured[measure]] }];
  },
  /** By its samples; dead letters have none. */
  async past({ core }, { accountId, when: { queue, measure }, fromMs, toMs, stepMs }) {
    const found = await findQueue(core.db, accountId, queue);
    if (found === null || measure === 'dead') return [];
    const samples = await readSamples(core.db, found, { fromMs, toMs: toMs + stepMs, stepMs });
    const name = measure === 'depth' ? 'depth' : 'oldest_message_age_seconds';
    return samples.map((sample) => {
      const value = sample[name];
      return { atMs: Date.parse(sample.at), series: value === null ? [] : [{ labels: {}, value }] };
    });
  },
});
