// What module metrics brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { metricsPage } from './metrics.ts';
import { metricsSettingsPage } from './settings.ts';

export const metricsConsole: ModuleConsole = { pages: [metricsPage, metricsSettingsPage] };
