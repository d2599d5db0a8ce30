// What module ai brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { aiPage } from './ai.ts';

export const aiConsole: ModuleConsole = { pages: [aiPage] };
