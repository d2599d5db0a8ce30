import Type, { type Static } from 'typebox';
import { quotedPlan, quotedSchemaOf } from '../../../jobs/operations/quote.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { planRequest } from '../jobs/start.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { generateFields } from '../schemas.ts';
import type { VideoState } from '../state.ts';
import { requestOf } from './generate.ts';

const quoteSchema = Type.Object(generateFields);
type Input = Static<typeof quoteSchema>;

export const quote = defineCapability<VideoState>()({
  method: 'POST',
  path: '/v1/video/quote',
  summary: 'Says what a video would cost, and who would make it.',
  description:
    'Takes the body of generate and makes nothing: which vendors would be asked, in this order, and for how much.',
  keywords: ['video price', 'estimate cost of a video'],
  input: quoteSchema,
  output: quotedSchemaOf('the video'),
  isLongRead: true,
  bodyBytesMax: BODY_BYTES_MAX,
  // The reference image may be long.
  bulk: { source: import.meta.url, reduce: withoutImage },
  errors: ['DURATION_EXCEEDED', 'MODEL_NOT_FOUND', 'VENDOR_NOT_AVAILABLE'],
  examples: [
    {
      title: 'Ten seconds in the sandbox',
      input: { prompt: 'A paper boat.', model: 'sandbox/storyboard-1', duration_seconds: 10 },
      expect: { max_cost_usd: 0.01 },
    },
  ],
  async run({ input, state }) {
    const plan = planRequest(state, requestOf(input));
    return { data: quotedPlan(plan, state.core.vendors, 'video.generate') };
  },
});

/** A price depends on whether there is an image. */
function withoutImage(input: Input) {
  const { reference_image: sent } = input;
  return { value: { ...input, reference_image: sent == null ? null : '' }, transfer: [] };
}
