// What module cron brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { failingSchedules } from './failing.ts';
import { schedulePages } from './one.ts';
import { schedulesPage } from './schedules.ts';

export const cronConsole: ModuleConsole = {
  pages: [schedulesPage, ...schedulePages],
  failing: { path: '/schedules', of: failingSchedules },
};
