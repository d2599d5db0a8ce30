// Console pages of module dns.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { lookupPage } from './lookup.ts';
import { zonePages } from './zone.ts';
import { zonesPage } from './zones.ts';

export const dnsConsole: ModuleConsole = { pages: [zonesPage, lookupPage, ...zonePages] };
