import { listOf } from '../../../../kit/resource.ts';
import { connections } from '../../connections/resource.ts';
import { connectionFirst } from '../examples.ts';

export const list = listOf(connections, {
  path: '/v1/vault/connection/list',
  description: 'Connections by name, without their secrets.',
  keywords: ['list credentials', 'which tokens are there'],
  examples: [{ title: 'All', before: [connectionFirst], input: {}, expect: { has_more: false } }],
});
