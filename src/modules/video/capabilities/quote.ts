import Type, { type Static } from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { usd } from '../../../lib/money.ts';
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
  output: Type.Object({
    chain: Type.Array(
      Type.Object({
        vendor: Type.String({ description: 'Who would be asked.' }),
        model: Type.String({ description: 'For which model.' }),
        up: Type.Boolean({ description: 'Whether it answers at present.' }),
        price_usd: Type.Number({ description: 'What the video would cost there, without storage.' }),
      }),
      { description: 'At most three, in the order in which they would be asked.' },
    ),
    max_cost_usd: Type.Number({ description: 'What would be held: the highest of these, and storage.' }),
  }),
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
    const chain = plan.chain.map(({ vendor, model, quoteNanos }) => {
      return {
        vendor,
        model,
        up: state.core.vendors.health.isUp(vendor, 'video.generate'),
        price_usd: usd(quoteNanos),
      };
    });
    return { data: { chain, max_cost_usd: usd(plan.heldNanos) } };
  },
});

/** A price depends on whether there is an image. */
function withoutImage(input: Input) {
  const { reference_image: sent } = input;
  return { value: { ...input, reference_image: sent == null ? null : '' }, transfer: [] };
}
