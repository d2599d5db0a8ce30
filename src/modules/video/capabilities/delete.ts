import Type from 'typebox';
import { findReplay, runLongWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { askToStop, cancelEnd, removeCopies } from '../due/stop.ts';
import { forgetAssets, removeJob } from '../jobs/remove.ts';
import { isLive } from '../jobs/row.ts';
import { findJob } from '../jobs/store.ts';
import { jobIdField } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneSecond } from './examples.ts';

export const remove = defineCapability<VideoState>()({
  method: 'DELETE',
  path: '/v1/video/delete/{id}',
  summary: 'Deletes a video job and what it made.',
  description:
    'A live job is cancelled first. Video, thumbnail, prompt and reference image are removed, and links to them end at once. Deleting what ' +
    'is gone, or never was, answers the same.',
  keywords: ['remove video', 'delete video'],
  input: Type.Object({ id: jobIdField }),
  output: Type.Object({
    ok: Type.Boolean({ description: 'True.' }),
    job_id: Type.String({ description: 'Id of the job.' }),
  }),
  events: ['video.job.failed'],
  examples: [{ title: 'Gone', before: [oneSecond], input: { id: '$0.job_id' }, expect: { ok: true } }],
  async run({ ctx, input, state }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const job = await findJob(ctx.core.db, ctx.accountId, input.id);
    const said = job === null ? null : await askToStop(ctx.core, job);
    let assets: string[] = [];
    const answer = await runLongWrite(ctx, async (tx) => {
      if (job !== null) assets = await removeJob(tx, state, job, cancelEnd(said), ctx.requestId);
      return { ok: true, job_id: input.id };
    });
    await forgetAssets(ctx.core, assets);
    if (job !== null && !isLive(job.state)) await removeCopies(ctx.core, job);
    return answer;
  },
});
