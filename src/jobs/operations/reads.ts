// The read operations: get a job, its progress, and a page of jobs.
import Type, { type TSchema } from 'typebox';
import { decodeCursor, encodeCursor, page } from '../../core/secrets/cursors.ts';
import { defineCapability } from '../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../kit/fields.ts';
import { problem } from '../../problems/problem.ts';
import { jobIdFieldOf, stateFilter, statusSchema, textFilter } from '../fields.ts';
import { requireJob, showJobs } from '../read.ts';
import type { Operated, OperationTexts } from './texts.ts';

/** `prefix`: of ids, `vid_`. */
export const statusOf = (prefix: string, texts: OperationTexts) =>
  defineCapability<Operated>()({
    method: 'GET',
    ...texts,
    input: Type.Object({ job_id: jobIdFieldOf(prefix) }),
    output: statusSchema,
    errors: ['JOB_NOT_FOUND'],
    async run({ ctx, input, state }) {
      const progress = await state.progress.add(ctx.accountId, input.job_id);
      if (progress === null) throw problem('JOB_NOT_FOUND', { param: 'job_id' });
      return { data: progress };
    },
  });

/** `output`: the record. */
export const getJobOf = <Out extends TSchema>(prefix: string, output: Out, texts: OperationTexts) =>
  defineCapability<Operated>()({
    method: 'GET',
    ...texts,
    input: Type.Object({ job_id: jobIdFieldOf(prefix) }),
    output,
    errors: ['JOB_NOT_FOUND'],
    async run({ ctx, input, state }) {
      const job = await requireJob(state.kind.tables, ctx.core.db, ctx.accountId, input.job_id);
      const [shown] = await showJobs(state, ctx.core.db, ctx.accountId, [job]);
      return { data: shown };
    },
  });

/** `output`: the record. `parent`: says what a job may be made of, where there is such a thing. */
export const listJobsOf = <Out extends TSchema>(output: Out, texts: OperationTexts, parent?: string) =>
  defineCapability<Operated>()({
    method: 'GET',
    ...texts,
    input: Type.Object({
      state: stateFilter,
      model: textFilter('Only jobs of this model, `vendor/model`.'),
      vendor: textFilter('Only jobs of this vendor.'),
      ...(parent === undefined ? {} : { parent_job_id: textFilter(parent) }),
      cursor: cursorField,
      limit: limitField,
    }),
    output: pageOf(output),
    errors: ['INVALID_CURSOR'],
    async run({ ctx, input, state: host }) {
      const { db, secrets } = ctx.core;
      const { state = null, model = null, vendor = null } = input;
      const { parent_job_id: parentId = null } = input as { readonly parent_job_id?: string };
      const filter = { state, model, vendor, parentId };
      const binding = [ctx.accountId, ctx.capability, JSON.stringify(filter)];
      const before = input.cursor === undefined ? null : String(decodeCursor(secrets, binding, input.cursor)[0]);
      const limit = input.limit ?? 20;
      const rows = await host.kind.tables.store.list(db, ctx.accountId, filter, before, limit + 1);
      const { items, ...rest } = page(rows, limit, (row) => encodeCursor(secrets, binding, [row.job_id]));
      return { data: { items: await showJobs(host, db, ctx.accountId, items), ...rest } };
    },
  });
