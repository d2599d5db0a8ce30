// Queues as a resource of the module's operations: key, record and look-up.
import type { Resource } from '../../../kit/resource.ts';
import { problem } from '../problems.ts';
import { queueName, queueSchema } from '../schemas.ts';
import type { QueueState } from '../state.ts';
import { type QueueRow, queueRecord } from './records.ts';
import { findQueue, listQueues } from './store.ts';

export const queues: Omit<Resource<QueueRow, QueueState, typeof queueSchema>, 'remove'> = {
  noun: 'queue',
  keyName: 'queue',
  keyField: queueName('Name of the queue.'),
  notFound: () => problem('QUEUE_NOT_FOUND', { param: 'queue' }),
  output: queueSchema,
  show: queueRecord,
  find: (db, { accountId }, name) => findQueue(db, accountId, name),
  list: (db, { accountId }, { after, limit }) => listQueues(db, accountId, after ?? '', limit),
  positionOf: ({ name }) => name,
};
