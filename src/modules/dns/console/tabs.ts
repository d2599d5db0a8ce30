// The pages of DNS beside each other.
import { pageTabs } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import { lookup } from '../capabilities/lookup.ts';

export const ZONES = '/dns';
export const LOOKUP = '/dns/lookup';

export function zonePath(zone: string): string {
  return `${ZONES}/${encodeURIComponent(zone)}`;
}

export function dnsTabs(visit: Visit, here: typeof ZONES | typeof LOOKUP): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === here });
  return pageTabs('Pages of DNS', [tab('Zones', ZONES), ...(visit.may(lookup) ? [tab('Look up', LOOKUP)] : [])]);
}
