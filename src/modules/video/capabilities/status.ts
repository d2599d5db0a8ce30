import Type from 'typebox';
import { clockNow } from '../../../core/database-clock.ts';
import { defineCapability } from '../../../manifest/capability.ts';
import { progressOf } from '../jobs/progress.ts';
import { requireJob } from '../jobs/read.ts';
import { jobIdField, statusSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneSecond } from './examples.ts';

export const status = defineCapability<VideoState>()({
  id: 'video.status',
  method: 'GET',
  path: '/v1/video/status/{id}',
  summary: 'Shows how far a video job is.',
  description: 'Ask every second or two, or name a webhook_url and be told of the end.',
  input: Type.Object({ id: jobIdField }),
  output: statusSchema,
  price: 'free',
  scope: 'read',
  idempotent: false,
  errors: ['JOB_NOT_FOUND'],
  events: [],
  examples: [{ title: 'How far it is', before: [oneSecond], input: { id: '$0.job_id' } }],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const [job, nowMs] = await Promise.all([requireJob(db, ctx.accountId, input.id), clockNow(db)]);
    return { data: { job_id: job.job_id, state: job.state, ...progressOf(job, nowMs) } };
  },
});
