import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { type JobRow, jobText } from '../jobs/records.ts';
import { jobTable, requireOpenJob, setStatus } from '../jobs/store.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const pause = defineCapability<CronState>()({
  method: 'POST',
  path: '/v1/cron/pause/{id}',
  summary: 'Stops the runs of a job for now.',
  description: 'No slot runs until resume. A run that has begun is finished. Pausing a paused job answers it as it is.',
  keywords: ['pause cron job', 'suspend schedule', 'stop a schedule temporarily'],
  input: Type.Object({ id: jobIdField }),
  output: jobSchema,
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Stop it for now',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { id: '$0.id' },
      expect: { status: 'paused', next_run_at: null },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    return runWrite(ctx, async (tx, { nowMs }) => {
      const job = await requireOpenJob(tx, ctx, input.id);
      if (job.status === 'active') await setStatus(tx, accountId, job.job_id, 'paused', null, nowMs);
      return new JsonText(jobText(core.secrets, (await jobTable.find(tx, ctx, job.job_id)) as JobRow));
    });
  },
});
