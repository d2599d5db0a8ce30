import Type from 'typebox';
import { findReplay, runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { requireJob } from '../jobs/read.ts';
import { sendWebhook, webhooksOf } from '../jobs/webhooks.ts';
import { WEBHOOKS_MAX } from '../limits.ts';
import { jobIdField, webhookSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneSecond } from './examples.ts';

export const subscribe = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/webhook/subscribe/{id}',
  summary: 'Names a URL that is told of the end of a job.',
  description:
    'The URL is POSTed video.job.completed or video.job.failed once, in the form of webhooks and signed with the secret of ' +
    'GET /v1/account/webhooks/default_secret; also when the job has ended already. It is tried again as webhooks are.',
  keywords: ['notify when the video is done', 'video callback'],
  input: Type.Object({
    id: jobIdField,
    webhook_url: Type.String({ minLength: 1, maxLength: 2_048, description: 'https URL.' }),
  }),
  output: Type.Object({
    job_id: Type.String({ description: 'Id of the job.' }),
    webhook_url: Type.String({ description: 'The URL.' }),
    status: webhookSchema.properties.status,
  }),
  errors: ['JOB_NOT_FOUND', 'WEBHOOK_URL_REJECTED', 'QUOTA_EXCEEDED'],
  limits: { webhooks: 'At most 5 a job.' },
  examples: [
    {
      title: 'Tell me',
      before: [oneSecond],
      input: { id: '$0.job_id', webhook_url: 'https://example.org/videos' },
      expect: { webhook_url: 'https://example.org/videos' },
    },
  ],
  async run({ ctx, input }) {
    const { core, accountId } = ctx;
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const warning = await core.outbound.checkUrl(input.webhook_url, 'webhook_url');
    if (warning !== null) ctx.warnings.push(warning);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const job = await requireJob(tx, accountId, input.id);
      const known = (await webhooksOf(tx, accountId, [job.job_id])).get(job.job_id) ?? [];
      if (known.length >= WEBHOOKS_MAX)
        throw problem('QUOTA_EXCEEDED', { message: `The job has its ${WEBHOOKS_MAX} webhooks.` });
      const { status } = sendWebhook(tx, job, known.length + 1, input.webhook_url, nowMs);
      return { job_id: job.job_id, webhook_url: input.webhook_url, status };
    });
  },
});
