// Console pages of module rtc.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { rtcPage } from './rtc.ts';

export const rtcConsole: ModuleConsole = { pages: [rtcPage] };
