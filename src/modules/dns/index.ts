// The dns module: zones that this service answers for, their records, and look-ups of any name.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { lookup } from './capabilities/lookup.ts';
import { propagation } from './capabilities/propagation.ts';
import { deleteRecord } from './capabilities/record/delete.ts';
import { listRecords } from './capabilities/record/list.ts';
import { setRecord } from './capabilities/record/set.ts';
import { createZone } from './capabilities/zone/create.ts';
import { deleteZone } from './capabilities/zone/delete.ts';
import { exportZone } from './capabilities/zone/export.ts';
import { getZone } from './capabilities/zone/get.ts';
import { importZone } from './capabilities/zone/import.ts';
import { listZones } from './capabilities/zone/list.ts';
import { powerdnsRoutes } from './powerdns/routes.ts';
import { countMetrics } from './server/counts.ts';
import { type DnsSettings, dnsSettings } from './settings.ts';
import { type DnsState, startDns } from './state.ts';
import { dnsFamily } from './vendors/family.ts';
import { delegationSweeps } from './zones/delegation.ts';
import { zoneLimits, zoneTable } from './zones/store.ts';

export const dns = defineModule<DnsState, DnsSettings>({
  name: 'dns',
  summary: 'DNS zones and records with a name server of their own, and look-ups of any name.',
  status: 'beta',
  shownBy: ['dns.record.set', 'dns.lookup'],
  capabilities: [
    ...[lookup, propagation],
    ...[createZone, listZones, getZone, deleteZone, importZone, exportZone],
    ...[setRecord, listRecords, deleteRecord],
  ],
  clients: [
    {
      client: 'PowerDNS clients (lego)',
      address: '{base_url}/v1/dns/powerdns',
      use: 'records; certificates by DNS',
      serves: ['dns.zone.list', 'dns.record.list', 'dns.record.set'],
    },
  ],
  models: dnsFamily,
  limits: zoneLimits,
  finders: [finder('zone', listZones, ({ zone }) => ({ id: zone, name: zone, path: `/dns/${zone}` }))],
  console: async () => (await import('./console/index.ts')).dnsConsole,
  rawRoutes: powerdnsRoutes,
  servers: [
    {
      setting: 'DNS_PORT',
      port: ({ settings }) => settings.port,
      open: async (state) => new (await import('./server/port.ts')).DnsPort(state),
    },
  ],
  settings: dnsSettings,
  start: startDns,
  metrics: ({ counts }) => countMetrics(counts),
  isEmpty: zoneTable.isEmpty,
  sweeps: ({ core, names, resolvers }) => delegationSweeps({ core, names, resolvers }),
});
