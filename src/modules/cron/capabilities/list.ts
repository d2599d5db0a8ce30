import { listOf } from '../../../kit/resource.ts';
import { jobSummary } from '../jobs/records.ts';
import { jobTable } from '../jobs/store.ts';
import { jobSummarySchema, statusField } from '../schemas.ts';

export const list = listOf('job', {
  path: '/v1/cron/list',
  description: 'Jobs without their payloads, newest first, page by page.',
  keywords: ['list cron jobs', 'show schedules'],
  examples: [{ title: 'What is scheduled', input: { status: 'active' }, expect: { has_more: false } }],
  ...jobTable,
  filters: { status: statusField },
  item: jobSummarySchema,
  show: (row, { ctx }) => jobSummary(ctx.core.secrets, row),
});
