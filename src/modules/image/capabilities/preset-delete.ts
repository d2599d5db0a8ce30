import { deleteOf } from '../../../kit/resource.ts';
import { presets } from '../links/presets.ts';

export const presetDelete = deleteOf(presets, {
  path: '/v1/image/preset/delete/{name}',
  description: 'Links that name it answer 404 from then on.',
  keywords: ['delete image preset', 'remove named image size'],
  examples: [
    {
      title: 'Not needed any more',
      before: [{ capability: 'image.preset.set', input: { name: 'thumb', transform: { resize: { width: 200 } } } }],
      input: { name: 'thumb' },
      expect: { deleted: true },
    },
  ],
});
