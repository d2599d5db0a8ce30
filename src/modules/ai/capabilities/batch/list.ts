import { listOf } from '../../../../kit/resource.ts';
import { statusFilter } from '../../batches/schemas.ts';
import { batches } from '../../batches/store.ts';

export const list = listOf(batches, {
  path: '/v1/ai/batch/list',
  summary: 'Lists the batches of the account.',
  description: 'Of any status, the newest first; they are kept for 7 days after their end.',
  keywords: ['list batches', 'batch history'],
  examples: [{ title: 'What has expired', input: { status: 'expired' }, expect: { has_more: false } }],
  filters: { status: statusFilter },
});
