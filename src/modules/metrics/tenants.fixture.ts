// Tenant-isolation fixture of metric series, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'metrics.ingest',
  nobody: { metric: 'nobody_has_it' },
  async fill({ act }) {
    const items = ['metric_tenant', 'metric_other'].map((name) => ({ name, type: 'gauge', value: 1 }));
    await act('metrics.ingest', { items });
    await act('metrics.settings.set', { retention_days: 20 });
    return { metric: 'metric_tenant' };
  },
  async fillOther({ act }) {
    await act('metrics.ingest', { items: [{ name: 'metric_second', value: 2 }] });
    return { metric: 'metric_second' };
  },
  aims: {
    'metrics.ingest': [],
    'metrics.query': [({ metric }) => ({ query: metric })],
    'metrics.query_range': [({ metric }) => ({ query: metric })],
    'metrics.series.list': [({ metric }) => ({ match: metric })],
    'metrics.labels': [({ metric }) => ({ label: '__name__', match: metric })],
  },
};
