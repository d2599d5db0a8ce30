// What module analytics brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { eventsPage } from './events.ts';
import { analyticsPage } from './trends.ts';

export const analyticsConsole: ModuleConsole = { pages: [analyticsPage, eventsPage] };
