// The operations cancel and delete.
import Type, { type TSchema } from 'typebox';
import { findReplay, runLongWrite } from '../../core/idempotency/write.ts';
import { defineCapability } from '../../kit/capability.ts';
import { cancelIn } from '../cancel.ts';
import { askToStop, cancelEnd, removeCopies } from '../due/stop.ts';
import { jobIdFieldOf } from '../fields.ts';
import { requireJob, showJobs } from '../read.ts';
import { forgetAssets, removeJob } from '../remove.ts';
import { isLive } from '../row.ts';
import type { Operated, OperationTexts } from './texts.ts';

/** `prefix`: of ids, `vid_`; `failed`: the event of a job that has not succeeded; `output`: the record. */
export const cancelOf = <Out extends TSchema>(prefix: string, failed: string, output: Out, texts: OperationTexts) =>
  defineCapability<Operated>()({
    method: 'POST',
    ...texts,
    input: Type.Object({
      job_id: jobIdFieldOf(prefix),
    }),
    output,
    destructive: true,
    errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
    events: [failed],
    async run({ ctx, input, state }) {
      const replay = await findReplay(ctx);
      if (replay !== null) return replay;
      const job = await requireJob(state.kind.tables, ctx.core.db, ctx.accountId, input.job_id);
      const said = await askToStop(state, job);
      return runLongWrite(ctx, async (tx) => {
        const after = await cancelIn(tx, state, job, cancelEnd(state.kind, said), ctx.requestId);
        return (await showJobs(state, tx, ctx.accountId, [after]))[0];
      });
    },
  });

export const deleteJobOf = (prefix: string, failed: string, texts: OperationTexts) =>
  defineCapability<Operated>()({
    method: 'DELETE',
    ...texts,
    input: Type.Object({ job_id: jobIdFieldOf(prefix) }),
    output: Type.Object({
      ok: Type.Boolean({ description: 'True.' }),
      job_id: Type.String({ description: 'Id of the job.' }),
    }),
    events: [failed],
    async run({ ctx, input, state }) {
      const replay = await findReplay(ctx);
      if (replay !== null) return replay;
      const job = await state.kind.tables.store.find(ctx.core.db, ctx.accountId, input.job_id);
      const said = job === null ? null : await askToStop(state, job);
      let assets: string[] = [];
      const answer = await runLongWrite(ctx, async (tx) => {
        if (job !== null) assets = await removeJob(tx, state, job, cancelEnd(state.kind, said), ctx.requestId);
        return { ok: true, job_id: input.job_id };
      });
      await forgetAssets(ctx.core, assets);
      if (job !== null && !isLive(job.state)) await removeCopies(state, job);
      return answer;
    },
  });
