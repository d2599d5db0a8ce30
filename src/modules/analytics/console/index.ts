// Console pages of module analytics.
import { blockSettingsPage } from '../../../kit/console/block-settings.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { settings } from '../capabilities/settings.ts';
import { eventsPage } from './events.ts';
import { personPages } from './person.ts';
import { questionPages } from './saved.ts';
import { analyticsPage } from './trends.ts';

export const analyticsConsole: ModuleConsole = {
  pages: [analyticsPage, eventsPage, ...personPages, ...questionPages, blockSettingsPage(settings, 'Analytics')],
};
