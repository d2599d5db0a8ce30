// What module queue brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { dlqPage } from './dlq.ts';
import { queueDeletePage, queuePurgePage } from './ends.ts';
import { failingQueues } from './failing.ts';
import { queuePage } from './one.ts';
import { queuesPage } from './queues.ts';

export const queueConsole: ModuleConsole = {
  pages: [queuesPage, queuePage, queuePurgePage, queueDeletePage, dlqPage],
  failing: { path: '/queues', of: failingQueues },
};
