// Tenant-isolation fixture of zones and records, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { randomText } from '../../lib/ids.ts';

/** A zone exists once in the service. */
const newZone = () => `${randomText(12).toLowerCase()}.test`;
const record = { name: 'www', type: 'A', values: ['192.0.2.1'] };

export const tenants: TenantFixture = {
  first: 'dns.zone.create',
  nobody: { zone: `${'1'.repeat(12)}.test` },
  async fill({ act }) {
    const [zone, second] = [newZone(), newZone()];
    await act('dns.zone.create', { zone });
    await act('dns.zone.create', { zone: second });
    await act('dns.record.set', { zone, ...record });
    await act('dns.record.set', { zone, ...record, type: 'TXT', values: ['aa'] });
    return { zone };
  },
  async fillOther({ act }) {
    const zone = newZone();
    await act('dns.zone.create', { zone });
    return { zone };
  },
  aims: {
    'dns.lookup': [],
    'dns.propagation': [],
    // That a zone is taken is told to whoever tries to create it.
    'dns.zone.create': [],
    'dns.zone.import': [({ zone }) => ({ zone, content: 'www 300 IN A 192.0.2.2' })],
    'dns.record.set': [({ zone }) => ({ zone, ...record })],
    'dns.record.delete': [({ zone }) => ({ zone, name: 'www', type: 'A' })],
  },
};
