import Type from 'typebox';
import { findReplay, runLongWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { askToStop, cancelEnd } from '../due/stop.ts';
import { cancelIn } from '../jobs/cancel.ts';
import { requireJob, showJobs } from '../jobs/read.ts';
import { jobIdField, jobSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { endless } from './examples.ts';

export const cancel = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/cancel/{id}',
  summary: 'Cancels a video job.',
  description:
    'The job ends at once. Before a vendor has accepted it nothing is charged; afterwards the vendor is asked to stop, and what it bills ' +
    'all the same is charged: `cancel` says how that stands, and cost_usd is null until it is settled. A repeat answers the same job.',
  keywords: ['stop rendering', 'abort video job', 'stop a video'],
  input: Type.Object({
    id: jobIdField,
    job_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'The id again; when sent it must be that of the path.' }),
    ),
  }),
  output: jobSchema,
  destructive: true,
  errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
  events: ['video.job.failed'],
  examples: [
    {
      title: 'Asked twice, it answers the same',
      before: [endless, { capability: 'video.cancel', input: { id: '$0.job_id' } }],
      input: { id: '$0.job_id' },
      expect: { state: 'cancelled', cost_usd: 0 },
    },
  ],
  async run({ ctx, input, state }) {
    if (input.job_id !== undefined && input.job_id !== input.id)
      throw invalidField('job_id', 'job_id', 'job_id is not that of the path.');
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const job = await requireJob(ctx.core.db, ctx.accountId, input.id);
    const said = await askToStop(ctx.core, job);
    return runLongWrite(ctx, async (tx) => {
      const after = await cancelIn(tx, state, job, cancelEnd(said), ctx.requestId);
      return (await showJobs(state, tx, ctx.accountId, [after]))[0];
    });
  },
});
