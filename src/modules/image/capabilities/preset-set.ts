import Type from 'typebox';
import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRoom } from '../../../kit/resource.ts';
import { presetLimits, presetNameField, presetSchema, presets, presetTable, savePreset } from '../links/presets.ts';
import { transformFields, transformOf } from '../schemas.ts';
import type { ImageState } from '../state.ts';

export const presetSet = defineCapability<ImageState>()({
  method: 'PUT',
  path: '/v1/image/preset/set',
  summary: 'Gives a transformation of images a name.',
  description:
    'Links name it (image.link). Set anew, it changes what all links that name it show, which are rendered again. Free.',
  keywords: ['image preset', 'named image size', 'thumbnail size'],
  input: Type.Object({
    name: presetNameField,
    transform: Type.Object(transformFields, { description: 'What is done to an image.' }),
  }),
  output: presetSchema,
  errors: ['QUOTA_EXCEEDED'],
  limits: { presets: '100 an account (standard tier), 1,000 (pro), 10,000 (enterprise).' },
  examples: [
    {
      title: 'Thumbnails',
      input: { name: 'thumb', transform: { resize: { width: 200, height: 200 }, format: 'webp' } },
      expect: { name: 'thumb' },
    },
  ],
  run: ({ ctx, input: { name, transform: sent } }) => {
    const transform = transformOf(sent);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const known = await presetTable.find(tx, ctx, name);
      if (known === null) await requireRoom(tx, ctx, 'preset', presetLimits.image_presets);
      const row = { name, created_at: known?.created_at ?? nowMs, updated_at: nowMs };
      savePreset(tx, ctx, { ...row, transform: JSON.stringify(transform) });
      return presets.show({ ...row, transform }, { ctx, state: null });
    });
  },
});
