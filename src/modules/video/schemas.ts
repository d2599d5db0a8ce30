// Fields and records of the video operations.
import Type from 'typebox';
import { commonFieldsOf, crossRegionField, jobIdFieldOf, standingFieldsOf } from '../../jobs/fields.ts';
import { orNull, textOrNull, wholeOrNull } from '../../kit/fields.ts';
import { aspectRatios, operations, resolutions } from './jobs/row.ts';
import { NEGATIVE_PROMPT_CHARACTERS_MAX, PROMPT_CHARACTERS_MAX, SECONDS_MAX, SECONDS_MIN, SEED_MAX } from './limits.ts';

export const jobIdField = jobIdFieldOf('vid_');

const seedField = Type.Optional(
  orNull<number>(
    { type: 'integer', minimum: 0, maximum: SEED_MAX },
    'A model that supports seeds gives similar results for the same request and seed. Null: the model chooses.',
  ),
);
const promptField = Type.String({
  minLength: 1,
  maxLength: PROMPT_CHARACTERS_MAX,
  description: 'What the video shows, in words.',
});
const durationField = Type.Optional(
  Type.Integer({
    minimum: SECONDS_MIN,
    maximum: SECONDS_MAX,
    default: 5,
    description: 'Length in seconds, 1 to 60; models have limits of their own, see GET /v1/video/capabilities.',
  }),
);
const SHORT_SIDE = 'Short side of the picture: 720, 1080 or 2160 pixels.';
const resolutionField = Type.Enum([...resolutions], { description: SHORT_SIDE });
const common = commonFieldsOf('video');

export const generateFields = {
  prompt: promptField,
  negative_prompt: Type.Optional(
    orNull<string>(
      { type: 'string', maxLength: NEGATIVE_PROMPT_CHARACTERS_MAX },
      'What is not to be seen. A model that does not take it ignores it, with a warning.',
    ),
  ),
  duration_seconds: durationField,
  resolution: Type.Optional(Type.Enum([...resolutions], { default: '720p', description: SHORT_SIDE })),
  aspect_ratio: Type.Optional(
    Type.Enum([...aspectRatios], { default: '16:9', description: 'Aspect ratio, width to height.' }),
  ),
  seed: seedField,
  reference_image: Type.Optional(
    orNull<string>(
      { type: 'string', minLength: 1 },
      'JPEG, PNG or WebP that opens the video: an https URL, a data URL or base64. 64 to 8,192 pixels a side, at most 10 MiB.',
    ),
  ),
  cross_region: crossRegionField,
  ...common,
};

export const extendFields = {
  prompt: Type.Optional(promptField),
  duration_seconds: Type.Optional(
    Type.Integer({
      minimum: SECONDS_MIN,
      maximum: SECONDS_MAX,
      default: 5,
      description: 'Seconds to be added, 1 to 60.',
    }),
  ),
  seed: seedField,
  ...common,
};

export const upscaleFields = { resolution: resolutionField, ...common };

export const jobFields = {
  ...standingFieldsOf('video'),
  operation: Type.Enum([...operations], { description: 'What made it.' }),
  prompt: Type.String({ description: 'As it was sent; empty once the video is gone.' }),
  duration_seconds: Type.Integer({ description: 'Length of the video.' }),
  aspect_ratio: Type.String({ description: 'Aspect ratio, width to height.' }),
  resolution: Type.String({ description: '`720p`, `1080p` or `4k`.' }),
  seed: wholeOrNull('As it was sent.'),
  video_url: textOrNull('Link to the video, for an hour; null while there is none, or none any more.'),
  thumbnail_url: textOrNull('Link to a picture of it, likewise.'),
  parent_job_id: textOrNull('The job whose video this one extends or enlarges.'),
  extend_mode: textOrNull('Of an extension: `stitched` behind its parent, or a `continuation`.'),
  width: wholeOrNull('Pixels.'),
  height: wholeOrNull('Pixels.'),
  size_bytes: wholeOrNull('Bytes of the video.'),
};

export const jobSchema = Type.Object(jobFields, { title: 'VideoJob' });
