// Console pages of module cron, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { failingSchedules } from './failing.ts';
import { schedulePages } from './one.ts';
import { schedulesPage } from './schedules.ts';

export const cronConsole: ModuleConsole = {
  pages: [schedulesPage, ...schedulePages],
  failing: { path: '/schedules', of: failingSchedules },
};
