import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { problem } from '../../../problems/problem.ts';
import { jobText } from '../jobs/records.ts';
import { findJob } from '../jobs/store.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const get = defineCapability<CronState>()({
  method: 'GET',
  path: '/v1/cron/get/{id}',
  summary: 'Shows a job.',
  description: 'One job with its payload, when it is due next, and its latest run.',
  keywords: ['cron job details', 'next run time'],
  input: Type.Object({ id: jobIdField }),
  output: jobSchema,
  errors: ['JOB_NOT_FOUND'],
  examples: [
    {
      title: 'One job',
      before: [
        {
          capability: 'cron.create',
          input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *', payload: { n: 1 } },
        },
      ],
      input: { id: '$0.id' },
      expect: { status: 'active', payload: { n: 1 }, last_run: null },
    },
  ],
  async run({ ctx, input }) {
    const job = await findJob(ctx.core.db, ctx.accountId, input.id);
    if (job === null) throw problem('JOB_NOT_FOUND', { param: 'id' });
    return { data: new JsonText(jobText(ctx.core.secrets, job)) };
  },
});
