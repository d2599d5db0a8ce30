import Type from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { runRecord } from '../jobs/records.ts';
import { findJob } from '../jobs/store.ts';
import { listRuns } from '../runs/store.ts';
import { cursorField, jobIdField, limitField, pageOf, runSchema } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const runs = defineCapability<CronState>()({
  id: 'cron.runs',
  method: 'GET',
  path: '/v1/cron/runs/{id}',
  summary: 'Lists the runs of a job.',
  description: 'Runs of the last 30 days, the latest slot first. Each slot has one run.',
  input: Type.Object({ id: jobIdField, cursor: cursorField, limit: limitField }),
  output: pageOf(runSchema),
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: ['JOB_NOT_FOUND', 'INVALID_CURSOR'],
  events: [],
  examples: [
    {
      title: 'Before the first run',
      before: [
        { capability: 'cron.create', input: { task: 'https://example.org/tasks/report', cron_expr: '0 9 * * *' } },
      ],
      input: { id: '$0.id' },
      expect: { items: [], has_more: false },
    },
  ],
  async run({ ctx, input }) {
    const { db, secrets } = ctx.core;
    const job = await findJob(db, ctx.accountId, input.id);
    if (job === null) throw problem('JOB_NOT_FOUND', { param: 'id' });
    const binding = [ctx.accountId, ctx.capability, job.job_id];
    const before = input.cursor === undefined ? null : Number(decodeCursor(secrets, binding, input.cursor)[0]);
    const limit = input.limit ?? 20;
    const rows = await listRuns(db, ctx.accountId, job.job_id, before, limit + 1);
    const shown = page(rows, limit, (row) => encodeCursor(secrets, binding, [row.scheduled_at]));
    return { data: { ...shown, items: shown.items.map(runRecord) } };
  },
});
