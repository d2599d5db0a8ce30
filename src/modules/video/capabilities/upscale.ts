import Type from 'typebox';
import { keptJob } from '../../../jobs/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { STORAGE_PRICE } from '../jobs/price.ts';
import { resolutions, videoSecondsOf, wantedOf } from '../jobs/row.ts';
import { startJob } from '../jobs/start.ts';
import { jobIdField, jobSchema, upscaleFields } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneVideo } from './examples.ts';

export const upscale = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/upscale/{job_id}',
  summary: 'Makes the picture of a video larger.',
  description:
    'Makes a new job whose video is that of the job named at a higher resolution. All its seconds are charged.',
  keywords: ['higher resolution', '4k video', 'enhance video'],
  input: Type.Object({ job_id: jobIdField, ...upscaleFields }),
  output: jobSchema,
  price: 'video.upscale',
  chargedAtEnd: true,
  laterPrices: [STORAGE_PRICE],
  replay: { keepDays: 30 },
  errors: [
    'JOB_NOT_FOUND',
    'STATE_CONFLICT',
    'MODEL_NOT_FOUND',
    'VENDOR_NOT_AVAILABLE',
    'WEBHOOK_URL_REJECTED',
    'CONCURRENCY_LIMITED',
    'VENDOR_DOWN',
    'VENDOR_TIMEOUT',
    'RATE_LIMIT_VENDOR',
    'VENDOR_AUTH_ERROR',
    'VENDOR_ERROR',
    'CONTENT_REFUSED',
  ],
  events: ['video.job.completed', 'video.job.failed', 'wallet.low_balance'],
  examples: [
    {
      title: 'Of a video that is done',
      before: [...oneVideo],
      input: { job_id: '$0.job_id', resolution: '1080p' },
      expect: { operation: 'upscale', resolution: '1080p' },
    },
  ],
  run: ({ ctx, input, state }) =>
    startJob(ctx, state, async () => {
      const parent = await keptJob(state.kind.tables, ctx.core.db, ctx.accountId, input.job_id);
      const before = wantedOf(parent);
      const { resolution } = input;
      if (resolutions.indexOf(resolution) <= resolutions.indexOf(before.resolution)) {
        const message = `The video has ${before.resolution} already; ask for a higher resolution.`;
        throw invalidField('resolution', 'resolution_not_higher', message);
      }
      const { prompt, aspectRatio, seed } = before;
      const videoSeconds = videoSecondsOf(parent);
      return {
        operation: 'upscale',
        parent,
        prompt,
        aspectRatio,
        resolution,
        seed,
        videoSeconds,
        seconds: videoSeconds,
        negativePrompt: null,
        referenceImage: null,
        crossRegion: false,
        common: input,
      };
    }),
});
