import { listOf } from '../../../kit/resource.ts';
import { buckets } from '../buckets/buckets.ts';

export const listBuckets = listOf(buckets, {
  path: '/v1/storage/bucket/list',
  description: 'Buckets by name, with what they hold, page by page.',
  keywords: ['list buckets', 's3 ls'],
  examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
});
