// How another account could name what this one has of the web: what the tenant loop of the contract tests needs.
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

const begin = async ({ act }: Tenant) => (await act('web.crawl', { url: 'http://site.test/', limit: 1 })).crawl_id;

export const tenants: TenantFixture = {
  first: 'web.crawl',
  nobody: { crawl: `crawl_${'1'.repeat(22)}` },
  async fill(tenant) {
    const crawl = await begin(tenant);
    await begin(tenant);
    return { crawl };
  },
  fillOther: async (tenant) => ({ crawl: await begin(tenant) }),
  aims: {
    'web.fetch': [],
    'web.map': [],
    'web.search': [],
    'web.screenshot': [],
    'web.crawl': [],
    'web.crawl.get': [({ crawl }) => ({ crawl_id: crawl })],
    'web.crawl.list': [],
    'web.crawl.cancel': [({ crawl }) => ({ crawl_id: crawl })],
  },
  lists: { 'web.crawl.list': () => ({}), 'web.crawl.get': ({ crawl }) => ({ crawl_id: crawl }) },
};
