import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { problem } from '../../../problems/problem.ts';
import { type JobRow, jobText } from '../jobs/records.ts';
import { slotAfter, timingOf } from '../jobs/settings.ts';
import { jobTable, requireOpenJob, setStatus } from '../jobs/store.ts';
import { RUN_PRICE } from '../limits.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const resume = defineCapability<CronState>()({
  method: 'POST',
  path: '/v1/cron/resume/{id}',
  summary: 'Lets a paused job run again.',
  description:
    'The next run is the first slot from now on: what was missed while it was paused is not made up for. When the run_at of a job has ' +
    'passed meanwhile, set another with update first. Resuming an active job answers it as it is.',
  keywords: ['unpause cron job', 'restart schedule', 'turn a schedule on'],
  input: Type.Object({ id: jobIdField }),
  output: jobSchema,
  laterPrices: [RUN_PRICE],
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Go on',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
        { capability: 'cron.pause', input: { id: '$0.id' } },
      ],
      input: { id: '$0.id' },
      expect: { status: 'active' },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    return runWrite(ctx, async (tx, { nowMs }) => {
      const job = await requireOpenJob(tx, ctx, input.id);
      if (job.status === 'paused') {
        const nextMs = slotAfter(timingOf(job), nowMs);
        if (nextMs === null) {
          throw problem('STATE_CONFLICT', { message: 'The time of the job has passed: set another with update.' });
        }
        await setStatus(tx, accountId, job.job_id, 'active', nextMs, nowMs);
      }
      return new JsonText(jobText(core.secrets, (await jobTable.find(tx, ctx, job.job_id)) as JobRow));
    });
  },
});
