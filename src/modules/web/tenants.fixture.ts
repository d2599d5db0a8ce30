// Tenant-isolation fixture of crawls, for the contract tests: creates them, and lists calls of another account that name them.
import { statement } from '../../db/statement.ts';
import type { Tenant, TenantFixture } from '../../kit/tenant-fixture.ts';

/** As the background writes it of a page that could not be read. */
const addPage = statement(
  'fixture_web_page',
  `INSERT INTO web.page (account_id, crawl_id, page_no, url, depth, status, error_code, read_at)
   VALUES ($1, $2, $3, $4, 0, 'failed', 'TARGET_FAILED', core.clock_now())`,
);

const begin = async ({ act }: Tenant) => (await act('web.crawl', { url: 'http://site.test/', limit: 1 })).crawl_id;

export const tenants: TenantFixture = {
  first: 'web.crawl',
  nobody: { crawl: `crawl_${'1'.repeat(22)}` },
  async fill(tenant) {
    const crawl = await begin(tenant);
    await begin(tenant);
    const { db, accountId } = tenant;
    for (const number of [7, 8]) await db.query(addPage, [accountId, crawl, number, `http://site.test/${number}`]);
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
    'web.crawl.cancel': [({ crawl }) => ({ crawl_id: crawl })],
  },
  lists: { 'web.crawl.get': ({ crawl }) => ({ crawl_id: crawl }) },
};
