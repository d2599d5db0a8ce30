import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { usd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import { SANDBOX } from '../../../vendors/file/port.ts';
import { aspectRatios, resolutionMultiplier, resolutions } from '../jobs/row.ts';
import { secondNanos, videoModel } from '../models/family.ts';
import type { VideoState } from '../state.ts';

/** Wires on which work that has begun can be stopped. */
const CANCELLING: ReadonlySet<string> = new Set(['fal', 'replicate']);

const flag = (description: string) => Type.Boolean({ description });
const textOrNull = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });

const modelSchema = Type.Object({
  vendor: Type.String({ description: 'Who has it.' }),
  model: Type.String({ description: 'How to ask for it: `vendor/model`, or the part behind the slash.' }),
  region: textOrNull('Where it works.'),
  max_seconds: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, description: 'The longest video.' }),
  seconds: Type.Unsafe<number[] | null>({
    type: ['array', 'null'],
    items: { type: 'integer' },
    description: 'The only lengths that it makes; null: all from min_seconds to max_seconds.',
  }),
  min_seconds: Type.Integer({ description: 'The shortest video.' }),
  image_to_video: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description: 'Whether it takes a reference image.',
  }),
  resolutions: Type.Array(Type.String(), { description: 'What it offers.' }),
  aspect_ratios: Type.Array(Type.String(), { description: 'What it offers.' }),
  seed: flag('Whether it takes a seed.'),
  negative_prompt: flag('Whether it takes one.'),
  extend: textOrNull('How it makes videos longer: `stitched` or `continuation`; null: it does not.'),
  upscale: flag('Whether it makes the picture larger.'),
  flagship: flag('Whether `smartest` may choose it.'),
  price_per_second_usd: Type.Unsafe<Record<string, number> | null>({
    type: ['object', 'null'],
    additionalProperties: { type: 'number' },
    description: 'By resolution, with markup; null: a video has one price.',
  }),
  cancellable: flag('Whether the vendor may stop working when a job is cancelled.'),
  up: flag('Whether the vendor answers at present.'),
});

export const capabilities = defineCapability<VideoState>()({
  method: 'GET',
  path: '/v1/video/capabilities',
  summary: 'Says which models make videos, and what they offer.',
  description: 'What a request may ask for: lengths, resolutions, shapes and prices by model.',
  keywords: ['video models', 'which video vendors', 'supported resolutions'],
  input: Type.Object({}),
  output: Type.Object({
    models: Type.Array(modelSchema, { description: 'Every model that takes work.' }),
    resolutions: Type.Array(Type.String(), { description: 'All that a request may name.' }),
    aspect_ratios: Type.Array(Type.String(), { description: 'All that a request may name.' }),
    resolution_multiplier: Type.Unsafe<Record<string, number>>({
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'What a resolution costs as a multiple of 720p, where a model has one price.',
    }),
  }),
  examples: [{ title: 'What there is', input: {}, expect: { resolutions: [...resolutions] } }],
  async run({ state }) {
    const { vendors } = state.core;
    const open = vendors.rowsFor('video.generate').filter(({ vendor }) => vendor.disabled === null);
    const models = open.map((row) => {
      const model = videoModel(row);
      const prices = model.resolutions.map((resolution) => [resolution, secondNanos(row, resolution)] as const);
      const perSecond = Object.fromEntries(
        prices.map(([resolution, nanos]) => [resolution, nanos === null ? 0 : usd(quoteOf(row.vendor, nanos, 1n))]),
      );
      return {
        vendor: row.vendor.id,
        model: `${row.vendor.id}/${row.id}`,
        region: row.vendor.region,
        max_seconds: model.secondsMax,
        min_seconds: model.secondsMin,
        seconds: model.secondsOnly === null ? null : [...model.secondsOnly],
        image_to_video: model.imageToVideo,
        resolutions: [...model.resolutions],
        aspect_ratios: [...model.aspectRatios],
        seed: model.seed,
        negative_prompt: model.negativePrompt,
        extend: model.extend,
        upscale: model.upscale,
        flagship: row.flagship,
        price_per_second_usd: prices.some(([, nanos]) => nanos === null) ? null : perSecond,
        cancellable: row.vendor.id === SANDBOX || CANCELLING.has(row.vendor.adapter),
        up: vendors.health.isUp(row.vendor.id, 'video.generate'),
      };
    });
    return {
      data: {
        models,
        resolutions: [...resolutions],
        aspect_ratios: [...aspectRatios],
        resolution_multiplier: { ...resolutionMultiplier },
      },
    };
  },
});
