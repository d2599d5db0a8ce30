import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { RUN_PRICE } from '../limits.ts';
import { runNow } from '../runs/run-now.ts';
import { jobIdField, runSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const run = defineCapability<CronState>()({
  method: 'POST',
  path: '/v1/cron/run/{job_id}',
  summary: 'Runs a job now.',
  description:
    'Begins one run outside the schedule and answers at once; ask runs for its outcome. The next run stays as it is. Paused jobs run too; a ' +
    'completed job does not. The POST is the same as on schedule, with the time of this call as scheduled_at.',
  keywords: ['trigger cron job', 'run schedule now', 'test a scheduled job', 'run a job by hand'],
  input: Type.Object({ job_id: jobIdField }),
  output: runSchema,
  price: RUN_PRICE,
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
  events: ['wallet.low_balance'],
  examples: [
    {
      title: 'Try it',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { job_id: '$0.job_id' },
      expect: { status: 'running', trigger: 'manual', attempt: 0 },
    },
  ],
  run: runNow,
});
