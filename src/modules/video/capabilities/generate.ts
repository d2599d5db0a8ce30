import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { decodeInline, isUrl } from '../jobs/inline-image.ts';
import { STORAGE_PRICE } from '../jobs/price.ts';
import type { SentImage } from '../jobs/reference-images.ts';
import { type StartRequest, startJob } from '../jobs/start.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { generateFields, jobSchema } from '../schemas.ts';
import type { VideoState } from '../state.ts';

const generateSchema = Type.Object(generateFields);

export const generate = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/generate',
  summary: 'Generates a video from a prompt.',
  description:
    'Answers at once with a job; ask GET /v1/video/status/{job_id}, or name a webhook_url, and fetch the video when the job has succeeded. ' +
    'The most that it may cost is held until then; what it cost is charged at its end, and nothing when it fails. ' +
    'POST /v1/video/quote says the price beforehand. When the vendor cannot take the job, the next one that can is asked, unless you ' +
    'pin one. Without a vendor configured the sandbox makes a storyboard of your words: a real video for 0.001 USD a second, for tests.',
  keywords: ['text to video', 'make video', 'ai video', 'sora veo runway', 'animate image', 'image to video'],
  input: generateSchema,
  output: jobSchema,
  price: 'video.generate',
  chargedAtEnd: true,
  laterPrices: [STORAGE_PRICE],
  replay: { keepDays: 30 },
  bodyBytesMax: BODY_BYTES_MAX,
  // The reference image may be long.
  bulk: { source: import.meta.url, reduce: decodeInput },
  errors: [
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
  limits: {
    jobs: '10 live jobs an account (standard tier), 50 (pro), 500 (enterprise).',
    retention: 'Videos are kept for a day, with store: true for retention_days; records for 90 days.',
    body: '16 MiB.',
  },
  examples: [
    {
      title: 'Three shots in the sandbox',
      input: {
        prompt: 'A paper boat on a pond. Rain begins. The boat sails under a leaf.',
        model: 'sandbox/storyboard-1',
        duration_seconds: 6,
      },
      expect: { state: 'queued', operation: 'generate', duration_seconds: 6, video_url: null },
    },
  ],
  run: ({ ctx, input, state }) => startJob(ctx, state, () => requestOf(input)),
});

type Input = Static<typeof generateSchema>;

/** With the bytes of an image in place of their text. */
function decodeInput(input: Input) {
  const { reference_image: sent } = input;
  if (sent == null || isUrl(sent)) return { value: input, transfer: [] };
  const bytes = decodeInline(sent);
  return { value: { ...input, reference_image: bytes }, transfer: [bytes.buffer] };
}

/** The request as its fields say it; `reference_image` may be decoded. */
export function requestOf(
  input: Omit<Input, 'reference_image'> & { readonly reference_image?: SentImage | null },
): StartRequest {
  const seconds = input.duration_seconds ?? 5;
  return {
    operation: 'generate',
    parent: null,
    prompt: input.prompt,
    negativePrompt: input.negative_prompt ?? null,
    seconds,
    videoSeconds: seconds,
    resolution: input.resolution ?? '720p',
    aspectRatio: input.aspect_ratio ?? '16:9',
    seed: input.seed ?? null,
    referenceImage: input.reference_image ?? null,
    crossRegion: input.cross_region ?? false,
    common: input,
  };
}
