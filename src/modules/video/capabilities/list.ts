import Type from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { showJobs } from '../jobs/read.ts';
import { listJobs } from '../jobs/store.ts';
import { cursorField, jobPage, limitField, stateFilter, textFilter } from '../schemas.ts';
import type { VideoState } from '../state.ts';

export const list = defineCapability<VideoState>()({
  method: 'GET',
  path: '/v1/video/list',
  summary: 'Lists the video jobs of the account.',
  description: 'Jobs of any state, newest first, page by page; records of ended jobs are kept for 90 days.',
  keywords: ['list videos', 'video history'],
  input: Type.Object({
    state: stateFilter,
    model: textFilter('Only jobs of this model, `vendor/model`.'),
    vendor: textFilter('Only jobs of this vendor.'),
    parent_job_id: textFilter('Only what was made from this job.'),
    cursor: cursorField,
    limit: limitField,
  }),
  output: jobPage,
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'What is being made', input: { state: 'running' }, expect: { has_more: false } }],
  async run({ ctx, input, state }) {
    const { db, secrets } = ctx.core;
    const { model = null, vendor = null, parent_job_id: parentId = null } = input;
    const filter = { state: input.state ?? null, model, vendor, parentId };
    const binding = [ctx.accountId, ctx.capability, JSON.stringify(filter)];
    const before = input.cursor === undefined ? null : String(decodeCursor(secrets, binding, input.cursor)[0]);
    const limit = input.limit ?? 20;
    const rows = await listJobs(db, ctx.accountId, filter, before, limit + 1);
    const { items, ...rest } = page(rows, limit, (row) => encodeCursor(secrets, binding, [row.job_id]));
    return { data: { items: await showJobs(state, db, ctx.accountId, items), ...rest } };
  },
});
