// Console pages of module metrics.
import { blockSettingsPage } from '../../../kit/console/block-settings.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { settings } from '../capabilities/settings.ts';
import { dashboardPages, dashboardsPage } from './dashboards.ts';
import { metricsPage } from './metrics.ts';

export const metricsConsole: ModuleConsole = {
  pages: [metricsPage, dashboardsPage, ...dashboardPages, blockSettingsPage(settings, 'Metrics')],
};
