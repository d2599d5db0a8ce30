// Console pages of module alerts, and what fires now for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { alertsPage } from './alerts.ts';
import { firingAlerts } from './failing.ts';
import { rulePages } from './one.ts';
import { ALERTS } from './paths.ts';

export const alertsConsole: ModuleConsole = {
  pages: [alertsPage, ...rulePages],
  failing: { path: ALERTS, of: firingAlerts },
};
