// Pages of the flags module.
import type { ModuleConsole } from '../../../kit/console/page.ts';

export const flagsConsole: ModuleConsole = { pages: [] };
