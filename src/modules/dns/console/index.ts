// What module dns brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { lookupPage } from './lookup.ts';
import { zonePages } from './zone.ts';
import { zonesPage } from './zones.ts';

export const dnsConsole: ModuleConsole = { pages: [zonesPage, lookupPage, ...zonePages] };
