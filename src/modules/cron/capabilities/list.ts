import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { jobSummary } from '../jobs/records.ts';
import { listJobs } from '../jobs/store.ts';
import { jobSummarySchema, statusField } from '../schemas.ts';
import type { CronState } from '../state.ts';

export const list = defineCapability<CronState>()({
  method: 'GET',
  path: '/v1/cron/list',
  summary: 'Lists the jobs of the account.',
  description: 'Jobs without their payloads, newest first, page by page.',
  keywords: ['list cron jobs', 'show schedules'],
  input: Type.Object({ cursor: cursorField, limit: limitField, status: statusField }),
  output: pageOf(jobSummarySchema),
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'What is scheduled', input: { status: 'active' }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const { db, secrets } = ctx.core;
    const status = input.status ?? null;
    const shown = await listPage(ctx, input, {
      filters: [String(status)],
      read: (before, limit) => listJobs(db, ctx.accountId, status, before, limit),
      positionOf: (row) => row.job_id,
    });
    return { data: { ...shown, items: shown.items.map((row) => jobSummary(secrets, row)) } };
  },
});
