// Schemas of the operations on image jobs.
import Type from 'typebox';
import { commonFieldsOf, crossRegionField, standingFieldsOf } from '../../../jobs/fields.ts';
import { orNull, textOrNull, wholeOrNull } from '../../../kit/fields.ts';
import { sourceField } from '../../../kit/file-fields.ts';
import { IMAGES_MAX, PROMPT_CHARACTERS_MAX, SEED_MAX } from '../limits.ts';
import { DEFAULT_SIZE, SIZE_PATTERN } from '../models/family.ts';

export const generateFields = {
  prompt: Type.String({
    minLength: 1,
    maxLength: PROMPT_CHARACTERS_MAX,
    description: 'What the image shows, in words.',
  }),
  size: Type.Optional(
    Type.String({
      pattern: SIZE_PATTERN,
      default: DEFAULT_SIZE,
      description: 'Width and height in pixels, `1024x1024`; models offer some, see GET /v1/image/capabilities.',
    }),
  ),
  n: Type.Optional(
    Type.Integer({ minimum: 1, maximum: IMAGES_MAX, default: 1, description: 'How many images, 1 to 10.' }),
  ),
  seed: Type.Optional(
    orNull<number>(
      { type: 'integer', minimum: 0, maximum: SEED_MAX },
      'A model that supports seeds gives similar results for the same request and seed. Null: the model chooses.',
    ),
  ),
  image: Type.Optional(sourceField('An image to draw upon, for models that edit.')),
  mask: Type.Optional(sourceField('With image: its transparent parts are drawn anew.')),
  cross_region: crossRegionField,
  ...commonFieldsOf('image'),
};

export const jobSchema = Type.Object(
  {
    ...standingFieldsOf('image'),
    prompt: Type.String({ description: 'As it was sent; empty once the images are gone.' }),
    size: Type.String({ description: 'As it was sent.' }),
    n: Type.Integer({ description: 'Images asked for.' }),
    seed: wholeOrNull('As it was sent.'),
    images: Type.Array(
      Type.Object({
        url: textOrNull('Link to the image, for an hour.'),
        content_type: Type.String({ description: '`image/png`, `image/jpeg` or `image/webp`.' }),
        width: Type.Integer({ description: 'Pixels.' }),
        height: Type.Integer({ description: 'Pixels.' }),
        size_bytes: Type.Integer({ description: 'Bytes.' }),
      }),
      { description: 'What was made; none before the job has succeeded, and none once they are gone.' },
    ),
  },
  { title: 'ImageJob' },
);
