// What module flags brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { flagDeletePage, flagPage } from './flag.ts';
import { flagsPage } from './flags.ts';

export const flagsConsole: ModuleConsole = { pages: [flagsPage, flagPage, flagDeletePage] };
