// Console pages of module queue, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { queuePurgePage } from './ends.ts';
import { failingQueues } from './failing.ts';
import { queuePages } from './one.ts';
import { queuesPage } from './queues.ts';

export const queueConsole: ModuleConsole = {
  pages: [queuesPage, ...queuePages, queuePurgePage],
  failing: { path: '/queues', of: failingQueues },
};
