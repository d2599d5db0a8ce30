import { listOf } from '../../../../kit/resource.ts';
import { zones } from '../../zones/resource.ts';

export const listZones = listOf(zones, {
  path: '/v1/dns/zone/list',
  description: 'Zones by name, page by page.',
  keywords: ['list dns zones', 'which domains'],
  examples: [{ title: 'The first ones', input: { limit: 10 }, expect: { has_more: false } }],
});
