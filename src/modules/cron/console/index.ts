// What module cron brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { list } from '../capabilities/list.ts';
import { failingSchedules } from './failing.ts';
import { scheduleDeletePage, schedulePage } from './one.ts';
import { jobPath } from './schedule.ts';
import { schedulesPage } from './schedules.ts';

export const cronConsole: ModuleConsole = {
  pages: [schedulesPage, schedulePage, scheduleDeletePage],
  failing: { path: '/schedules', of: failingSchedules },
  find: (visit, text) =>
    foundIn(visit, list, text, ({ id, name }) => ({ kind: 'schedule', name: name ?? id, id, path: jobPath(id) })),
};
