import Type, { type Static } from 'typebox';
import { readSource, type Source } from '../../../files/source.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { decodedSource, sourceField } from '../../../kit/file-fields.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { factFields, factsOf } from '../schemas.ts';
import type { ImageState } from '../state.ts';
import { PICTURE } from './examples.ts';

const PARAM = 'source';
const infoSchema = Type.Object({ source: sourceField('The image: JPEG, PNG, WebP, AVIF, GIF or TIFF.') });
type Input = Static<typeof infoSchema>;

export const info = defineCapability<ImageState>()({
  method: 'POST',
  path: '/v1/image/info',
  summary: 'Shows the format and size of an image.',
  description: 'Reads the head of the image only: whether the rest is sound is seen when it is transformed.',
  keywords: ['image size', 'image dimensions', 'width and height of a picture', 'is it a png'],
  input: infoSchema,
  output: Type.Object({ ...factFields, bytes: Type.Integer({ minimum: 1, description: 'Of the source.' }) }),
  isLongRead: true,
  bodyBytesMax: BODY_BYTES_MAX,
  // The image may be long.
  bulk: { source: import.meta.url, reduce: decodeInput },
  errors: ['OVERLOADED', 'CONCURRENCY_LIMITED', 'NOT_FOUND'],
  limits: { source: '20 MiB.' },
  examples: [
    {
      title: 'A small PNG',
      input: { source: { content_base64: PICTURE } },
      expect: { format: 'png', width: 4, height: 2, pages: 1, has_alpha: false },
    },
  ],
  async run({ ctx, input, state }) {
    // What follows is work of others.
    ctx.idle();
    // Its base64 may have been decoded by `bulk`.
    const source = input.source as Source;
    const { bytesMax } = ctx.core.bounds.call.image;
    const { bytes } = await readSource(ctx, source, { bytesMax, param: PARAM, isFree: true });
    const found = await state.images.info(ctx, bytes, PARAM);
    return { data: { ...factsOf(found), bytes: bytes.length } };
  },
});

function decodeInput(input: Input) {
  const { source, transfer } = decodedSource(input.source, PARAM);
  return { value: { source }, transfer };
}
