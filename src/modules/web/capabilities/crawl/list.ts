import { listOf } from '../../../../kit/resource.ts';
import { crawls } from '../../crawl/resource.ts';

export const listCrawls = listOf(crawls, {
  path: '/v1/web/crawl/list',
  description: 'The newest first, page by page, without their pages.',
  keywords: ['list crawls', 'running crawls'],
  examples: [{ title: 'The newest ones', input: { limit: 10 }, expect: { has_more: false } }],
});
