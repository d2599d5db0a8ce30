import { listOf } from '../../../../kit/resource.ts';
import { batchSchema, statusFilter } from '../../batches/schemas.ts';
import { batches, batchTable } from '../../batches/store.ts';

export const list = listOf('batch', {
  path: '/v1/ai/batch/list',
  summary: 'Lists the batches of the account.',
  description: 'Of any status, the newest first; they are kept for 7 days after their end.',
  keywords: ['list batches', 'batch history'],
  examples: [{ title: 'What has expired', input: { status: 'expired' }, expect: { has_more: false } }],
  ...batchTable,
  filters: { status: statusFilter },
  item: batchSchema,
  show: batches.show,
});
