// The pages of the web module beside each other.
import { pageTabs } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import { listCrawls } from '../capabilities/crawl/list.ts';
import { fetch as webFetch } from '../capabilities/fetch.ts';

export const READER = '/web';
export const CRAWLS = '/web/crawls';

export function crawlPath(id: string): string {
  return `${CRAWLS}/${id}`;
}

export function webTabs(visit: Visit, here: typeof READER | typeof CRAWLS): Html {
  const pages = [
    { text: 'Read a page', path: READER, needs: webFetch },
    { text: 'Crawls', path: CRAWLS, needs: listCrawls },
  ] as const;
  const tabs = pages.filter(({ needs }) => visit.may(needs));
  return pageTabs(
    'Web pages',
    tabs.map(({ text, path }) => ({ text, href: visit.path(path), isHere: path === here })),
  );
}
