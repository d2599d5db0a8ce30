import Type, { type Static } from 'typebox';
import { quotedPlan, quotedSchemaOf } from '../../../jobs/operations/quote.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { generateFields } from '../jobs/schemas.ts';
import { planRequest } from '../jobs/start.ts';
import { GENERATE_BODY_BYTES_MAX } from '../limits.ts';
import type { ImageState } from '../state.ts';
import { requestOf } from './generate.ts';

const quoteSchema = Type.Object(generateFields);

export const quote = defineCapability<ImageState>()({
  method: 'POST',
  path: '/v1/image/quote',
  summary: 'Says what images would cost, and who would make them.',
  description:
    'Takes the body of generate and makes nothing: which vendors would be asked, in this order, and for how much.',
  keywords: ['image price', 'estimate cost of an image'],
  input: quoteSchema,
  output: quotedSchemaOf('the images'),
  isLongRead: true,
  bodyBytesMax: GENERATE_BODY_BYTES_MAX,
  // The image may be long.
  bulk: { source: import.meta.url, reduce: withoutImages },
  errors: ['MODEL_NOT_FOUND', 'VENDOR_NOT_AVAILABLE'],
  examples: [
    {
      title: 'Three images in the sandbox',
      input: { prompt: 'A paper boat.', model: 'sandbox/card-1', n: 3 },
      expect: { max_cost_usd: 0.003 },
    },
  ],
  async run({ input, state }) {
    const plan = planRequest(state, requestOf(input));
    return { data: quotedPlan(plan, state.core.vendors, 'image.generate') };
  },
});

/** A price depends on whether there is an image. */
function withoutImages(input: Static<typeof quoteSchema>) {
  const { image, mask: _mask, ...rest } = input;
  return { value: { ...rest, ...(image === undefined ? {} : { image: {} }) }, transfer: [] };
}
