// The operation that adds a webhook URL for a job's end.
import Type from 'typebox';
import { findReplay, runWrite } from '../../core/idempotency/write.ts';
import { defineCapability } from '../../kit/capability.ts';
import { problem } from '../../problems/problem.ts';
import { jobIdFieldOf, webhookSchema } from '../fields.ts';
import { WEBHOOKS_MAX } from '../limits.ts';
import { requireJob } from '../read.ts';
import type { Operated, OperationTexts } from './texts.ts';

/** `prefix`: of ids, `vid_`. */
export const subscribeOf = (prefix: string, texts: OperationTexts) =>
  defineCapability<Operated>()({
    method: 'POST',
    ...texts,
    input: Type.Object({
      job_id: jobIdFieldOf(prefix),
      webhook_url: Type.String({ minLength: 1, maxLength: 2_048, description: 'https URL.' }),
    }),
    output: Type.Object({
      job_id: Type.String({ description: 'Id of the job.' }),
      webhook_url: Type.String({ description: 'The URL.' }),
      status: webhookSchema.properties.status,
    }),
    errors: ['JOB_NOT_FOUND', 'WEBHOOK_URL_REJECTED', 'QUOTA_EXCEEDED'],
    limits: { webhooks: `At most ${WEBHOOKS_MAX} a job.` },
    async run({ ctx, input, state }) {
      const { core, accountId } = ctx;
      const { tables } = state.kind;
      const replay = await findReplay(ctx);
      if (replay !== null) return replay;
      const warning = await core.outbound.checkUrl(input.webhook_url, 'webhook_url');
      if (warning !== null) ctx.warnings.push(warning);
      return runWrite(ctx, async (tx, { nowMs }) => {
        const job = await requireJob(tables, tx, accountId, input.job_id);
        const known = (await tables.webhooks.of(tx, accountId, [job.job_id])).get(job.job_id) ?? [];
        if (known.length >= WEBHOOKS_MAX)
          throw problem('QUOTA_EXCEEDED', { message: `The job has its ${WEBHOOKS_MAX} webhooks.` });
        const { status } = tables.webhooks.send(tx, job, known.length + 1, input.webhook_url, nowMs);
        return { job_id: job.job_id, webhook_url: input.webhook_url, status };
      });
    },
  });
