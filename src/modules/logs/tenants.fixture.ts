// Tenant-isolation fixture of log records, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'logs.ingest',
  nobody: { service: 'nobody-has-it', trace: '1'.repeat(32) },
  async fill({ act }) {
    const trace = 'a'.repeat(32);
    const items = ['record one', 'record two'].map((message) => ({
      message,
      service: 'svc-of-tenant',
      trace_id: trace,
    }));
    await act('logs.ingest', { items });
    await act('logs.settings.set', { retention_days: 20 });
    return { service: 'svc-of-tenant', trace };
  },
  async fillOther({ act }) {
    await act('logs.ingest', { items: [{ message: 'of b', service: 'svc-of-another', trace_id: 'b'.repeat(32) }] });
    return { service: 'svc-of-another', trace: 'b'.repeat(32) };
  },
  aims: {
    'logs.ingest': [],
    'logs.search': [({ service }) => ({ service }), ({ trace }) => ({ trace_id: trace })],
  },
  lists: { 'logs.search': () => ({ q: 'record' }) },
};
