import { changeOf } from '../../../../kit/resource.ts';
import { crawls } from '../../crawl/resource.ts';
import { saveCrawl } from '../../crawl/store.ts';

export const cancelCrawl = changeOf({ ...crawls, save: saveCrawl })({
  method: 'POST',
  path: '/v1/web/crawl/cancel/{crawl_id}',
  summary: 'Cancels a crawl.',
  description:
    'From the answer on no page is charged or kept. What was read stays for 24 hours. A crawl that has ended stays as it is, and is answered.',
  keywords: ['stop a crawl', 'abort crawling'],
  examples: [
    {
      title: 'One that runs',
      before: [{ capability: 'web.crawl', input: { url: 'https://docs.example.org/', limit: 1 } }],
      input: { crawl_id: '$0.crawl_id' },
    },
  ],
  change: (row, _input, { nowMs }) =>
    row.status === 'running' ? { status: 'cancelled', finished_at: nowMs, due_at: null } : null,
});
