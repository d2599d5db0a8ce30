import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { removeJob } from '../jobs/store.ts';
import { jobIdField } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const remove = defineCapability<CronState>()({
  method: 'DELETE',
  path: '/v1/cron/delete/{id}',
  summary: 'Deletes a job.',
  description:
    'The job and the list of its runs are gone at once; a run that has begun is finished, and its event is still sent.',
  keywords: ['delete cron job', 'remove schedule'],
  input: Type.Object({ id: jobIdField }),
  output: Type.Object({
    id: Type.String({ description: 'Id of the job.' }),
    deleted: Type.Boolean({ description: 'True.' }),
  }),
  errors: ['JOB_NOT_FOUND'],
  examples: [
    {
      title: 'Not needed any more',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { id: '$0.id' },
      expect: { deleted: true },
    },
  ],
  async run({ ctx, input }) {
    return runWrite(ctx, async (tx) => {
      if (!(await removeJob(tx, ctx.accountId, input.id))) throw problem('JOB_NOT_FOUND', { param: 'id' });
      return { id: input.id, deleted: true };
    });
  },
});
