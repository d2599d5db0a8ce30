// Console pages of module logs.
import { blockSettingsPage } from '../../../kit/console/block-settings.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { settings } from '../capabilities/settings.ts';
import { logsPage } from './logs.ts';

export const logsConsole: ModuleConsole = { pages: [logsPage, blockSettingsPage(settings, 'Logs')] };
