// Per-process state of the dns module.
import { isIP } from 'node:net';
import { AccountPlaces } from '../../core/account-places.ts';
import type { Services } from '../../kit/services.ts';
import type { NameServer } from '../../lib/name-server.ts';
import { LOOKUPS_AT_ONCE } from './limits.ts';
import { readName } from './records/names.ts';
import type { DnsCounts } from './server/counts.ts';
import { newCounts } from './server/counts.ts';
import type { DnsSettings } from './settings.ts';
import { ZoneHosts } from './vendors/hosts.ts';
import type { ZonesState } from './zones/resource.ts';

export interface DnsState extends ZonesState {
  readonly core: Services;
  readonly settings: DnsSettings;
  /** Whom look-ups ask; the first of them when a call does not say. */
  readonly resolvers: readonly NameServer[];
  readonly lookups: AccountPlaces;
  readonly counts: DnsCounts;
  /** Name servers of others. */
  readonly hosts: ZoneHosts;
}

/** What a look-up asks when neither the call nor the operator says. */
const PUBLIC = ['1.1.1.1', '8.8.8.8', '9.9.9.9'].map((host) => ({ text: host, host, port: 53 }));

export function startDns(core: Services, settings: DnsSettings): DnsState {
  for (const name of settings.names) core.ownNames.add(name);
  return {
    core,
    settings,
    names: settings.names.length > 0 ? settings.names : [hostOf(core.baseUrl)],
    resolvers: core.nameServers ?? PUBLIC,
    lookups: new AccountPlaces(LOOKUPS_AT_ONCE, { alone: 'all' }),
    counts: newCounts(),
    hosts: new ZoneHosts(core),
  };
}

/** A name server has a name: an address, or a single label, is none. */
function hostOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const name = isIP(hostname) === 0 ? readName(hostname) : null;
  return name?.includes('.') === true ? name : 'ns.localhost';
}
