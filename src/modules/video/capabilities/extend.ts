import Type from 'typebox';
import { keptJob } from '../../../jobs/read.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { problem } from '../../../problems/problem.ts';
import { STORAGE_PRICE } from '../jobs/price.ts';
import { videoSecondsOf, wantedOf } from '../jobs/row.ts';
import { startJob } from '../jobs/start.ts';
import { VIDEO_SECONDS_MAX } from '../limits.ts';
import { extendFields, jobIdField, jobSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneVideo } from './examples.ts';

export const extend = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/extend/{job_id}',
  summary: 'Makes a video longer.',
  description:
    'Makes a new job whose video is that of the job named, and more behind it. The seconds that are added are charged; duration_seconds of ' +
    'the new job is the length of the whole. Some models continue the picture, others put a new video behind the old one: extend_mode says it.',
  keywords: ['lengthen video', 'continue a clip', 'longer video'],
  input: Type.Object({ job_id: jobIdField, ...extendFields }),
  output: jobSchema,
  price: 'video.extend',
  chargedAtEnd: true,
  laterPrices: [STORAGE_PRICE],
  replay: { keepDays: 30 },
  errors: [
    'JOB_NOT_FOUND',
    'STATE_CONFLICT',
    'DURATION_EXCEEDED',
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
  limits: { length: 'A video has at most 180 seconds.' },
  examples: [
    {
      title: 'Of a video that is done',
      before: [...oneVideo],
      input: { job_id: '$0.job_id', prompt: 'Rain.', duration_seconds: 1 },
      expect: { operation: 'extend', duration_seconds: 2 },
    },
  ],
  run: ({ ctx, input, state }) =>
    startJob(ctx, state, async () => {
      const parent = await keptJob(state.kind.tables, ctx.core.db, ctx.accountId, input.job_id);
      const before = wantedOf(parent);
      const seconds = input.duration_seconds ?? 5;
      const videoSeconds = videoSecondsOf(parent) + seconds;
      if (videoSeconds > VIDEO_SECONDS_MAX) {
        const message = `The video would be ${videoSeconds} seconds long: at most ${VIDEO_SECONDS_MAX}.`;
        throw problem('DURATION_EXCEEDED', { param: 'duration_seconds', message });
      }
      const { resolution, aspectRatio } = before;
      return {
        operation: 'extend',
        parent,
        prompt: input.prompt ?? before.prompt,
        negativePrompt: null,
        seconds,
        videoSeconds,
        resolution,
        aspectRatio,
        seed: input.seed ?? null,
        referenceImage: null,
        crossRegion: false,
        common: input,
      };
    }),
});
