import { listOf } from '../../../kit/resource.ts';
import { type JobRow, jobSummary } from '../jobs/records.ts';
import { jobs } from '../jobs/store.ts';
import { jobSummarySchema, statusField } from '../schemas.ts';

export const list = listOf(
  { ...jobs, output: jobSummarySchema, show: (row: JobRow, { ctx }) => jobSummary(ctx.core.secrets, row) },
  {
    path: '/v1/cron/list',
    description: 'Jobs without their payloads, newest first, page by page.',
    keywords: ['list cron jobs', 'show schedules'],
    examples: [{ title: 'What is scheduled', input: { status: 'active' }, expect: { has_more: false } }],
    filters: { status: statusField },
  },
);
