// What module cron brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { failingSchedules } from './failing.ts';
import { scheduleDeletePage, schedulePage } from './one.ts';
import { schedulesPage } from './schedules.ts';

export const cronConsole: ModuleConsole = {
  pages: [schedulesPage, schedulePage, scheduleDeletePage],
  failing: { path: '/schedules', of: failingSchedules },
};
