// What module logs brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { logsPage } from './logs.ts';
import { logsSettingsPage } from './settings.ts';

export const logsConsole: ModuleConsole = { pages: [logsPage, logsSettingsPage] };
