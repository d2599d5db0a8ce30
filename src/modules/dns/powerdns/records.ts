// Zones and record sets in the shape of PowerDNS' API: names end with a dot, values are those of zone files.
import { NS_TTL, SOA } from '../limits.ts';
import type { RecordSet } from '../records/sets.ts';
import { fileValue } from '../records/values.ts';
import type { ShownZone } from '../zones/store.ts';

export const serverRecord = {
  type: 'Server',
  id: 'localhost',
  daemon_type: 'authoritative',
  version: '4.9.0',
  url: '/api/v1/servers/localhost',
  zones_url: '/api/v1/servers/localhost/zones{/zone}',
};

export function zoneSummary({ zone, serial }: ShownZone) {
  const id = `${zone}.`;
  const number = Number(serial);
  return {
    id,
    name: id,
    type: 'Zone',
    url: `/api/v1/servers/localhost/zones/${id}`,
    kind: 'Native',
    serial: number,
    edited_serial: number,
    notified_serial: number,
    masters: [],
    dnssec: false,
    account: '',
  };
}

export function zoneRecord(row: ShownZone, sets: readonly RecordSet[], names: readonly string[]) {
  const { zone, serial } = row;
  const { refresh, retry, expire, minimum, ttl } = SOA;
  const soa = `${names[0] ?? ''}. hostmaster.${zone}. ${serial} ${refresh} ${retry} ${expire} ${minimum}`;
  const hasOwn = sets.some(({ name, type }) => type === 'NS' && name === zone);
  const made = [
    shownSet(zone, 'SOA', ttl, [soa]),
    ...(hasOwn
      ? []
      : [
          shownSet(
            zone,
            'NS',
            NS_TTL,
            names.map((host) => `${host}.`),
          ),
        ]),
  ];
  const own = sets.map(({ name, type, ttl: seconds, values }) =>
    shownSet(
      name,
      type,
      seconds,
      values.map((value) => fileValue(type, value)),
    ),
  );
  return { ...zoneSummary(row), rrsets: [...made, ...own] };
}

function shownSet(name: string, type: string, ttl: number, values: readonly string[]) {
  return {
    name: `${name}.`,
    type,
    ttl,
    comments: [],
    records: values.map((content) => ({ content, disabled: false })),
  };
}
