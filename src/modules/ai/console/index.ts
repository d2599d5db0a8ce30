// What module ai brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { aiModelsPage } from './models.ts';
import { aiPage } from './playground.ts';

export const aiConsole: ModuleConsole = { pages: [aiPage, aiModelsPage] };
