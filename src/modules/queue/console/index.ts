// What module queue brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { queuePurgePage } from './ends.ts';
import { failingQueues } from './failing.ts';
import { queuePages } from './one.ts';
import { queuesPage } from './queues.ts';

export const queueConsole: ModuleConsole = {
  pages: [queuesPage, ...queuePages, queuePurgePage],
  failing: { path: '/queues', of: failingQueues },
};
