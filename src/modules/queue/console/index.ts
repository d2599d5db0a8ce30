// What module queue brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { dlqPage } from './dlq.ts';
import { queueDeletePage, queuePurgePage } from './ends.ts';
import { failingQueues } from './failing.ts';
import { queuePage } from './one.ts';
import { queuePublishPage } from './publish.ts';
import { queuePushPage } from './push.ts';
import { queuesPage } from './queues.ts';
import { queueSettingsPage } from './settings.ts';

export const queueConsole: ModuleConsole = {
  pages: [
    ...[queuesPage, queuePage, dlqPage, queuePublishPage, queuePushPage, queueSettingsPage],
    ...[queuePurgePage, queueDeletePage],
  ],
  failing: { path: '/queues', of: failingQueues },
};
