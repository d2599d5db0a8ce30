// The operations cancel and delete.
import Type, { type TSchema } from 'typebox';
import { findReplay, runLongWrite } from '../../core/idempotency/write.ts';
import { defineCapability } from '../../kit/capability.ts';
import { invalidField } from '../../problems/problem.ts';
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
      id: jobIdFieldOf(prefix),
      job_id: Type.Optional(
        Type.String({ maxLength: 64, description: 'The id again; when sent it must be that of the path.' }),
      ),
    }),
    output,
    destructive: true,
    errors: ['JOB_NOT_FOUND', 'STATE_CONFLICT'],
    events: [failed],
    async run({ ctx, input, state }) {
      if (input.job_id !== undefined && input.job_id !== input.id)
        throw invalidField('job_id', 'job_id', 'job_id is not that of the path.');
      const replay = await findReplay(ctx);
      if (replay !== null) return replay;
      const job = await requireJob(state.kind.tables, ctx.core.db, ctx.accountId, input.id);
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
    input: Type.Object({ id: jobIdFieldOf(prefix) }),
    output: Type.Object({
      ok: Type.Boolean({ description: 'True.' }),
      job_id: Type.String({ description: 'Id of the job.' }),
    }),
    events: [failed],
    async run({ ctx, input, state }) {
      const replay = await findReplay(ctx);
      if (replay !== null) return replay;
      const job = await state.kind.tables.store.find(ctx.core.db, ctx.accountId, input.id);
      const said = job === null ? null : await askToStop(state, job);
      let assets: string[] = [];
      const answer = await runLongWrite(ctx, async (tx) => {
        if (job !== null) assets = await removeJob(tx, state, job, cancelEnd(state.kind, said), ctx.requestId);
        return { ok: true, job_id: input.id };
      });
      await forgetAssets(ctx.core, assets);
      if (job !== null && !isLive(job.state)) await removeCopies(state, job);
      return answer;
    },
  });
