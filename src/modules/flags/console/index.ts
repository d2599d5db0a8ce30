// What module flags brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { flagsPage } from './flags.ts';
import { flagPage } from './one.ts';
import { flagDeletePage, flagHistoryPage, flagSettingsPage } from './settings.ts';

export const flagsConsole: ModuleConsole = {
  pages: [flagsPage, flagPage, flagSettingsPage, flagHistoryPage, flagDeletePage],
};
