import Type, { type Static } from 'typebox';
import { findReplay } from '../../../core/idempotency/write.ts';
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { answerResult, requireResultPlace } from '../../../files/result.ts';
import { readSource, requireOneWay, type Source } from '../../../files/source.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { decodedSource, resultFields, resultWishFields, sourceField } from '../../../kit/file-fields.ts';
import { READ_PRICE, STORE_PRICES } from '../../../objects/limits.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { contentTypeOf, endingOf } from '../pictures/images.ts';
import { factFields, factsOf, transformFields, transformOf } from '../schemas.ts';
import type { ImageState } from '../state.ts';
import { PICTURE } from './examples.ts';

const PARAM = 'source';
const transformSchema = Type.Object({
  source: sourceField('The image: JPEG, PNG, WebP, AVIF, GIF or TIFF.'),
  ...transformFields,
  ...resultWishFields,
});
type Input = Static<typeof transformSchema>;

export const transform = defineCapability<ImageState>()({
  method: 'POST',
  path: '/v1/image/transform',
  summary: 'Resizes, crops, turns and converts an image.',
  description:
    'Applied in this order: upright by EXIF, rotate, crop, resize, flip, then the rest. Metadata is removed unless keep_metadata is true. Animated GIF and ' +
    'WebP images keep their frames in these two formats; in others the first frame is taken. The result is a link of 1 h, or base64 with inline: true ' +
    '(up to 1 MiB). An image that cannot be read costs nothing.',
  keywords: [
    'resize image',
    'make a thumbnail',
    'crop a photo',
    'convert png to jpeg',
    'compress an image',
    'webp',
    'sharp',
  ],
  input: transformSchema,
  output: Type.Object({ ...factFields, ...resultFields }),
  price: 'image.transform',
  laterPrices: [READ_PRICE, ...STORE_PRICES],
  bodyBytesMax: BODY_BYTES_MAX,
  // The image may be long.
  bulk: { source: import.meta.url, reduce: decodeInput },
  errors: ['OVERLOADED', 'CONCURRENCY_LIMITED', 'NOT_FOUND'],
  events: ['wallet.low_balance'],
  limits: {
    source: '20 MiB, 50 megapixels and 100 frames, all frames together.',
    result: '8,192 pixels a side, 50 megapixels.',
    time: '20 s.',
  },
  examples: [
    {
      title: 'A thumbnail as WebP, in the answer',
      input: { source: { content_base64: PICTURE }, resize: { width: 2 }, format: 'webp', inline: true },
      expect: { format: 'webp', width: 2, height: 1, content_type: 'image/webp', url: null },
    },
    {
      title: 'Turned, and by a link',
      input: { source: { content_base64: PICTURE }, rotate: 90 },
      expect: { format: 'png', width: 2, height: 4, content_base64: null },
    },
  ],
  async run({ ctx, input, state }) {
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    // Its base64 may have been decoded by `bulk`.
    const source = input.source as Source;
    requireOneWay(source, PARAM);
    const wanted = transformOf(input);
    await requireResultPlace(ctx, input);
    // What follows is work of others.
    ctx.idle();
    return chargeForAnswer(ctx, state.transforming, 1n, async () => {
      const { bytes } = await readSource(ctx, source, { bytesMax: ctx.core.bounds.call.image.bytesMax, param: PARAM });
      const made = await state.images.transform(ctx, bytes, wanted, PARAM);
      ctx.holdMade(made.bytes.length);
      ctx.warnings.push(...made.warnings);
      const result = await answerResult(ctx, made.bytes, {
        contentType: contentTypeOf(made.format),
        filename: `image.${endingOf(made.format)}`,
        inline: input.inline,
        store: input.store,
      });
      return JSON.stringify({ ...factsOf(made), ...result });
    });
  },
});

function decodeInput(input: Input) {
  const { source, transfer } = decodedSource(input.source, PARAM);
  return { value: { ...input, source }, transfer };
}
