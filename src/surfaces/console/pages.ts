// All pages of the console, in the order of the navigation. A new one is a folder and a line here.
import { overviewPage } from './overview/overview.ts';
import type { ConsolePage } from './page.ts';

export const pages: readonly ConsolePage[] = [overviewPage];
