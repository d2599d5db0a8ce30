import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { STORAGE_PRICE } from '../jobs/price.ts';
import { keptFilm } from '../jobs/read.ts';
import { filmSecondsOf, wantedOf } from '../jobs/row.ts';
import { startJob } from '../jobs/start.ts';
import { FILM_SECONDS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { extendFields, jobIdField, jobSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { oneFilm } from './examples.ts';

export const extend = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/extend/{id}',
  summary: 'Makes a film longer.',
  description:
    'Makes a new job whose film is that of the job named, and more behind it. The seconds that are added are charged; duration_seconds of ' +
    'the new job is the length of the whole. Some models continue the picture, others put a new film behind the old one: extend_mode says it.',
  keywords: ['lengthen video', 'continue a clip', 'longer film'],
  input: Type.Object({ id: jobIdField, ...extendFields }),
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
  limits: { length: 'A film has at most 180 seconds.' },
  examples: [
    {
      title: 'Of a film that is done',
      before: [...oneFilm],
      input: { id: '$0.job_id', prompt: 'Rain.', duration_seconds: 1 },
      expect: { operation: 'extend', duration_seconds: 2 },
    },
  ],
  run: ({ ctx, input, state }) =>
    startJob(ctx, state, async () => {
      const parent = await keptFilm(ctx, input.id);
      const before = wantedOf(parent);
      const seconds = input.duration_seconds ?? 5;
      const filmSeconds = filmSecondsOf(parent) + seconds;
      if (filmSeconds > FILM_SECONDS_MAX) {
        const message = `The film would be ${filmSeconds} seconds long: at most ${FILM_SECONDS_MAX}.`;
        throw problem('DURATION_EXCEEDED', { param: 'duration_seconds', message });
      }
      const { resolution, aspectRatio } = before;
      return {
        operation: 'extend',
        parent,
        prompt: input.prompt ?? before.prompt,
        negativePrompt: null,
        ...{ seconds, filmSeconds, resolution, aspectRatio },
        seed: input.seed ?? null,
        referenceImage: null,
        crossRegion: false,
        common: input,
      };
    }),
});
