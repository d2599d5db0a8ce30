// Crawls as a resource (kit/resource.ts).
import type { Resource } from '../../../kit/resource.ts';
import { problem } from '../problems.ts';
import { crawlIdField, crawlSchema, showCrawl } from './schemas.ts';
import { type CrawlRow, crawlTable } from './store.ts';

export const crawls: Resource<CrawlRow, unknown, typeof crawlSchema> = {
  ...crawlTable,
  noun: 'crawl',
  keyName: 'crawl_id',
  keyField: crawlIdField,
  output: crawlSchema,
  show: showCrawl,
  notFound: () => problem('CRAWL_NOT_FOUND', { param: 'crawl_id' }),
};
