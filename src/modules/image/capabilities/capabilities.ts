import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { textOrNull } from '../../../kit/fields.ts';
import { usd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import { imageModel, imageNanos } from '../models/family.ts';
import type { ImageState } from '../state.ts';

const flag = (description: string) => Type.Boolean({ description });

const modelSchema = Type.Object({
  vendor: Type.String({ description: 'Who has it.' }),
  model: Type.String({ description: 'How to ask for it: `vendor/model`, or the part behind the slash.' }),
  region: textOrNull('Where it works.'),
  sizes: Type.Array(Type.String(), { description: 'What it offers.' }),
  images_max: Type.Integer({ description: 'Images a call, at most.' }),
  seed: flag('Whether it takes a seed.'),
  edit: flag('Whether it draws upon an image.'),
  flagship: flag('Whether `smartest` may choose it.'),
  price_per_image_usd: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'By size, with markup.',
  }),
  up: flag('Whether the vendor answers at present.'),
});

export const capabilities = defineCapability<ImageState>()({
  method: 'GET',
  path: '/v1/image/capabilities',
  summary: 'Says which models make images, and what they offer.',
  description: 'What a request may ask for: sizes, numbers and prices by model.',
  keywords: ['image models', 'which image vendors'],
  input: Type.Object({}),
  output: Type.Object({ models: Type.Array(modelSchema, { description: 'Every model that takes work.' }) }),
  examples: [{ title: 'What there is', input: {} }],
  async run({ state }) {
    const { vendors } = state.core;
    const open = vendors.rowsFor('image.generate').filter(({ vendor }) => vendor.disabled === null);
    const models = open.map((row) => {
      const { sizes, imagesMax, seed, edit } = imageModel(row);
      const { id, region } = row.vendor;
      const prices = sizes.map((of) => [of, usd(quoteOf(row.vendor, imageNanos(row, of) ?? 0n, 1n))] as const);
      return {
        vendor: id,
        model: `${id}/${row.id}`,
        region,
        sizes: [...sizes],
        images_max: imagesMax,
        seed,
        edit,
        flagship: row.flagship,
        price_per_image_usd: Object.fromEntries(prices),
        up: vendors.health.isUp(id, 'image.generate'),
      };
    });
    return { data: { models } };
  },
});
