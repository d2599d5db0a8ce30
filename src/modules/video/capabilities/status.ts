import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { jobIdField, statusSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneSecond } from './examples.ts';

export const status = defineCapability<VideoState>()({
  method: 'GET',
  path: '/v1/video/status/{id}',
  summary: 'Shows how far a video job is.',
  description: 'Ask every second or two, or name a webhook_url and be told of the end.',
  keywords: ['video progress', 'is the video ready', 'poll render', 'is a video ready'],
  input: Type.Object({ id: jobIdField }),
  output: statusSchema,
  errors: ['JOB_NOT_FOUND'],
  examples: [{ title: 'How far it is', before: [oneSecond], input: { id: '$0.job_id' } }],
  async run({ ctx, input, state }) {
    const progress = await state.progress.add(ctx.accountId, input.id);
    if (progress === null) throw problem('JOB_NOT_FOUND', { param: 'id' });
    return { data: progress };
  },
});
