// Tenant-isolation fixture of metric series, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'metrics.ingest',
  nobody: { metric: 'nobody_has_it', dashboard_id: `dash_${'1'.repeat(22)}` },
  async fill({ act }) {
    const items = ['metric_tenant', 'metric_other'].map((name) => ({ name, type: 'gauge', value: 1 }));
    await act('metrics.ingest', { items });
    await act('metrics.settings.set', { retention_days: 20 });
    const panels = [{ title: 'One', query: 'metric_tenant' }];
    await act('metrics.dashboard.create', { name: 'First', panels });
    const { dashboard_id } = await act('metrics.dashboard.create', { name: 'Second', panels });
    return { metric: 'metric_tenant', dashboard_id };
  },
  async fillOther({ act }) {
    await act('metrics.ingest', { items: [{ name: 'metric_second', value: 2 }] });
    const { dashboard_id } = await act('metrics.dashboard.create', { name: 'Of another', panels: [] });
    return { metric: 'metric_second', dashboard_id };
  },
  aims: {
    'metrics.ingest': [],
    'metrics.query': [({ metric }) => ({ query: metric })],
    'metrics.query_range': [({ metric }) => ({ query: metric })],
    'metrics.series.list': [({ metric }) => ({ match: metric })],
    'metrics.dashboard.create': [],
    'metrics.dashboard.update': [({ dashboard_id }) => ({ dashboard_id, name: 'taken', panels: [] })],
    'metrics.labels': [({ metric }) => ({ label: '__name__', match: metric })],
  },
};
