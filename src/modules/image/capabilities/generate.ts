import Type, { type Static } from 'typebox';
import type { Source } from '../../../files/source.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { decodedSource } from '../../../kit/file-fields.ts';
import { READ_PRICE } from '../../../objects/limits.ts';
import type { ImageRequest } from '../jobs/plan.ts';
import { STORAGE_PRICE } from '../jobs/price.ts';
import { generateFields, jobSchema } from '../jobs/schemas.ts';
import { startJob } from '../jobs/start.ts';
import { GENERATE_BODY_BYTES_MAX } from '../limits.ts';
import { DEFAULT_SIZE } from '../models/family.ts';
import type { ImageState } from '../state.ts';

const generateSchema = Type.Object(generateFields);
type Input = Static<typeof generateSchema>;

export const generate = defineCapability<ImageState>()({
  method: 'POST',
  path: '/v1/image/generate',
  summary: 'Generates images from a prompt.',
  description:
    'Answers at once with a job; ask GET /v1/image/status/{job_id}, or name a webhook_url, and fetch the images when the job has succeeded. With image the ' +
    'model draws upon it. The most that the job may cost is held until then; what it cost is charged at its end, and nothing when it fails. ' +
    'POST /v1/image/quote says the price beforehand. Without a vendor configured the sandbox draws a marked card of your words, for 0.001 USD an image.',
  keywords: ['text to image', 'make a picture', 'ai image', 'dall-e', 'draw a picture', 'edit an image with words'],
  input: generateSchema,
  output: jobSchema,
  price: 'image.generate',
  chargedAtEnd: true,
  laterPrices: [STORAGE_PRICE, READ_PRICE],
  replay: { keepDays: 30 },
  bodyBytesMax: GENERATE_BODY_BYTES_MAX,
  // The image may be long.
  bulk: { source: import.meta.url, reduce: decodeInput },
  errors: [
    'MODEL_NOT_FOUND',
    'VENDOR_NOT_AVAILABLE',
    'WEBHOOK_URL_REJECTED',
    'CONCURRENCY_LIMITED',
    'BUCKET_NOT_FOUND',
    'OBJECT_NOT_FOUND',
    'VENDOR_DOWN',
    'VENDOR_TIMEOUT',
    'RATE_LIMIT_VENDOR',
    'VENDOR_AUTH_ERROR',
    'VENDOR_ERROR',
    'CONTENT_REFUSED',
  ],
  events: ['image.job.completed', 'image.job.failed', 'wallet.low_balance'],
  limits: {
    jobs: '10 live jobs an account (standard tier), 50 (pro), 500 (enterprise).',
    retention: 'Images are kept for a day, with store: true for retention_days; records for 90 days.',
    body: '28 MiB; an image 20 MiB and 50 megapixels.',
  },
  examples: [
    {
      title: 'Two cards of the sandbox',
      input: { prompt: 'A paper boat on a pond.', model: 'sandbox/card-1', size: '512x512', n: 2 },
      expect: { state: 'queued', n: 2, size: '512x512', images: [] },
    },
  ],
  run: ({ ctx, input, state }) =>
    startJob(ctx, state, requestOf(input), {
      // Their base64 may have been decoded by `bulk`.
      image: (input.image as Source | undefined) ?? null,
      mask: (input.mask as Source | undefined) ?? null,
    }),
});

function decodeInput(input: Input) {
  const image = input.image === undefined ? null : decodedSource(input.image, 'image');
  const mask = input.mask === undefined ? null : decodedSource(input.mask, 'mask');
  return {
    value: { ...input, ...(image && { image: image.source }), ...(mask && { mask: mask.source }) },
    transfer: [...(image?.transfer ?? []), ...(mask?.transfer ?? [])],
  };
}

export function requestOf(input: Omit<Input, 'image' | 'mask'> & { readonly image?: unknown }): ImageRequest {
  const { prompt, size = DEFAULT_SIZE, n = 1, seed = null, cross_region: crossRegion = false } = input;
  return { prompt, size, n, seed, crossRegion, hasImage: input.image !== undefined, common: input };
}
