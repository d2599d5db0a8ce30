// Console pages of module ai.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { aiModelsPage } from './models.ts';
import { aiPage } from './playground.ts';

export const aiConsole: ModuleConsole = { pages: [aiPage, aiModelsPage] };
