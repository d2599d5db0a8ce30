// Tenant-isolation fixture of keys of decisions and list entries, for the contract tests: creates them, and
// lists calls of another account that name them.
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

async function score({ act }: Pick<Tenant, 'act'>, user: string) {
  await act('risk.score', { event: 'login', user_id: user, ip: '203.0.113.9' });
  const { key } = await act('risk.subject', { user_id: user });
  return { key };
}

export const tenants: TenantFixture = {
  first: 'risk.score',
  nobody: { key: 'user_aaaaaaaaaaaaaaaaaaaa', entry: 'u-absent' },
  async fill(tenant) {
    const names = await score(tenant, 'u-anybody');
    await tenant.act('risk.score', { event: 'login', user_id: 'u-anybody', idempotency_key: 'shared' });
    await tenant.act('risk.list.add', { list: 'block', kind: 'user', value: 'u-listed' });
    await tenant.act('risk.list.add', { list: 'allow', kind: 'domain', value: 'example.org' });
    return { ...names, entry: 'u-listed' };
  },
  async fillOther(tenant) {
    const names = await score(tenant, 'u-another');
    await tenant.act('risk.list.add', { list: 'block', kind: 'user', value: 'u-others' });
    return { ...names, entry: 'u-others' };
  },
  aims: {
    'risk.score': [],
    'risk.rules.set': [],
    'risk.rules.try': [],
    'risk.list.add': [],
    'risk.list.remove': [({ entry }) => ({ kind: 'user', value: entry })],
  },
  keyed: [['risk.score', { event: 'login', user_id: 'u-another' }]],
};
