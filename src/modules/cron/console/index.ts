// What module cron brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { failingSchedules } from './failing.ts';
import { schedulePage } from './one.ts';
import { schedulesPage } from './schedules.ts';
import { scheduleDeletePage, scheduleSettingsPage } from './settings.ts';

export const cronConsole: ModuleConsole = {
  pages: [schedulesPage, schedulePage, scheduleSettingsPage, scheduleDeletePage],
  failing: { path: '/schedules', of: failingSchedules },
};
