// What module web brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { readerPage } from './reader.ts';

export const webConsole: ModuleConsole = { pages: [readerPage] };
