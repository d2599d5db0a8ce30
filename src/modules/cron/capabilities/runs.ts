import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { requireRow } from '../../../kit/resource.ts';
import { runRecord } from '../jobs/records.ts';
import { jobs } from '../jobs/store.ts';
import { listRuns } from '../runs/store.ts';
import { jobIdField, runSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const runs = defineCapability<CronState>()({
  method: 'GET',
  path: '/v1/cron/runs/{job_id}',
  summary: 'Lists the runs of a job.',
  description: 'Runs of the last 30 days, the latest slot first. Each slot has one run.',
  keywords: ['cron history', 'job logs', 'did my cron run', 'failed runs', 'what ran last'],
  input: Type.Object({ job_id: jobIdField, cursor: cursorField, limit: limitField }),
  output: pageOf(runSchema),
  errors: ['JOB_NOT_FOUND', 'INVALID_CURSOR'],
  examples: [
    {
      title: 'Before the first run',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { job_id: '$0.job_id' },
      expect: { items: [], has_more: false },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const job = await requireRow(jobs, db, ctx, input.job_id);
    const shown = await listPage(ctx, input, {
      filters: [job.job_id],
      read: (before, limit) => listRuns(db, ctx.accountId, job.job_id, before === null ? null : Number(before), limit),
      positionOf: (row) => row.scheduled_at,
    });
    return { data: { ...shown, items: shown.items.map(runRecord) } };
  },
});
