// Console pages of module web.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { crawlPage } from './crawl.ts';
import { crawlsPage } from './crawls.ts';
import { readerPage } from './reader.ts';

export const webConsole: ModuleConsole = { pages: [readerPage, crawlsPage, crawlPage] };
