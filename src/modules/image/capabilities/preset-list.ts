import { listOf } from '../../../kit/resource.ts';
import { presets } from '../links/presets.ts';

export const presetList = listOf(presets, {
  path: '/v1/image/preset/list',
  description: 'Presets by name, page by page.',
  keywords: ['list image presets', 'named image sizes'],
  examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
});
