// Console pages of module risk.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { decisionsPage, subjectPage } from './decisions.ts';
import { listsPage } from './lists.ts';
import { rulesPage } from './rules.ts';

export const riskConsole: ModuleConsole = { pages: [decisionsPage, subjectPage, rulesPage, listsPage] };
