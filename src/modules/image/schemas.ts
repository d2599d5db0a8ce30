// Schemas of the image operations.
import Type from 'typebox';
import { invalidField } from '../../problems/problem.ts';
import { BLUR_MAX, BLUR_MIN, SHARPEN_MAX, SHARPEN_MIN, SIDE_PX_MAX } from './limits.ts';
import { fits, flips, formats, type ImageFacts, type Transform, turns } from './pictures/task.ts';

const side = (description: string) => Type.Integer({ minimum: 1, maximum: SIDE_PX_MAX, description });
const offset = (description: string) => Type.Integer({ minimum: 0, maximum: 100_000_000, description });
const extent = (description: string) => Type.Integer({ minimum: 1, maximum: 100_000_000, description });

/** What may be done to an image, of calls and presets. */
export const transformFields = {
  rotate: Type.Optional(
    Type.Enum([...turns], {
      description: 'Degrees clockwise. First the image is set upright by its EXIF orientation.',
    }),
  ),
  crop: Type.Optional(
    Type.Object(
      {
        left: offset('Pixels from the left.'),
        top: offset('Pixels from the top.'),
        width: extent('Pixels.'),
        height: extent('Pixels.'),
      },
      { description: 'The part to keep, before resize.' },
    ),
  ),
  resize: Type.Optional(
    Type.Object(
      {
        width: Type.Optional(side('Pixels; follows from height when not sent.')),
        height: Type.Optional(side('Pixels; follows from width when not sent.')),
        fit: Type.Optional(
          Type.Enum([...fits], {
            default: 'cover',
            description:
              'With both sides: `cover` cuts, `contain` adds a border, `fill` distorts, `inside` and `outside` keep the shape and at most, or at least, the size.',
          }),
        ),
      },
      { description: 'The size of the result: width, height or both. Smaller images are enlarged.' },
    ),
  ),
  flip: Type.Optional(
    Type.Enum([...flips], { description: 'Mirrors: `horizontal` left to right, `vertical` upside down.' }),
  ),
  blur: Type.Optional(
    Type.Number({
      minimum: BLUR_MIN,
      maximum: BLUR_MAX,
      description: 'Sigma of a Gaussian blur, pixels of the result.',
    }),
  ),
  sharpen: Type.Optional(
    Type.Number({
      minimum: SHARPEN_MIN,
      maximum: SHARPEN_MAX,
      description: 'Sigma of the mask that sharpens, pixels.',
    }),
  ),
  grayscale: Type.Optional(Type.Boolean({ description: 'True: no colour.' })),
  background: Type.Optional(
    Type.String({
      pattern: '^#[0-9A-Fa-f]{6}$',
      description:
        '`#rrggbb` behind transparent parts and in the border of contain; white in a JPEG, else transparent, when not sent.',
    }),
  ),
  format: Type.Optional(
    Type.Enum([...formats], { description: 'Format of the result; that of the source when not sent.' }),
  ),
  quality: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Of jpeg and webp (80), and avif (50); others have none.' }),
  ),
  keep_metadata: Type.Optional(
    Type.Boolean({ description: 'True keeps EXIF, colour profile and XMP; false when not sent.' }),
  ),
};

/** What an image is. */
export const factFields = {
  format: Type.Enum([...formats], { description: 'Format.' }),
  width: Type.Integer({ minimum: 1, description: 'Pixels, upright.' }),
  height: Type.Integer({ minimum: 1, description: 'Pixels, upright.' }),
  pages: Type.Integer({ minimum: 1, description: 'Frames of an animation, pages of a TIFF; else 1.' }),
  has_alpha: Type.Boolean({ description: 'Whether parts may be transparent.' }),
};

export function factsOf({ format, widthPx, heightPx, pages, hasAlpha }: ImageFacts) {
  return { format, width: widthPx, height: heightPx, pages, has_alpha: hasAlpha };
}

/** The fields that say what is to be done. Throws VALIDATION_FAILED for a resize to no size. */
export function transformOf(input: Transform): Transform {
  if (input.resize !== undefined && input.resize.width === undefined && input.resize.height === undefined)
    throw invalidField('resize', 'required', 'resize has a width, a height, or both.');
  const { rotate, crop, resize, flip, blur, sharpen, grayscale, background, format, quality, keep_metadata } = input;
  const all = { rotate, crop, resize, flip, blur, sharpen, grayscale, background, format, quality, keep_metadata };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
