import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { requireJob, showJobs } from '../jobs/read.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneSecond } from './examples.ts';

export const get = defineCapability<VideoState>()({
  method: 'GET',
  path: '/v1/video/get/{id}',
  summary: 'Shows a video job.',
  description:
    'The whole job: what was asked for, its state, links to the video and its thumbnail, what it cost, which vendor worked. The links are ' +
    'made at each read and work for an hour.',
  keywords: ['video job details', 'video result'],
  input: Type.Object({ id: jobIdField }),
  output: jobSchema,
  errors: ['JOB_NOT_FOUND'],
  examples: [{ title: 'One job', before: [oneSecond], input: { id: '$0.job_id' }, expect: { operation: 'generate' } }],
  async run({ ctx, input, state }) {
    const job = await requireJob(ctx.core.db, ctx.accountId, input.id);
    const [shown] = await showJobs(state, ctx.core.db, ctx.accountId, [job]);
    return { data: shown };
  },
});
