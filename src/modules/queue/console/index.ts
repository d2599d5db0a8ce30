// What module queue brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { list } from '../capabilities/list.ts';
import { dlqPage } from './dlq.ts';
import { queueDeletePage, queuePurgePage } from './ends.ts';
import { failingQueues } from './failing.ts';
import { queuePage } from './one.ts';
import { queuePath } from './queue.ts';
import { queuesPage } from './queues.ts';

export const queueConsole: ModuleConsole = {
  pages: [queuesPage, queuePage, queuePurgePage, queueDeletePage, dlqPage],
  failing: { path: '/queues', of: failingQueues },
  find: (visit, text) =>
    foundIn(visit, list, text, ({ name }) => ({ kind: 'queue', name, id: name, path: queuePath(name) })),
};
