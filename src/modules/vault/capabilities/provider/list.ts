import { listOf } from '../../../../kit/resource.ts';
import { providers } from '../../oauth/provider.ts';
import { providerFirst } from '../examples.ts';

export const providerList = listOf(providers, {
  path: '/v1/vault/provider/list',
  description: 'OAuth providers by name, without their client secrets.',
  keywords: ['list oauth providers', 'oauth clients'],
  examples: [{ title: 'All', before: [providerFirst], input: {}, expect: { has_more: false } }],
});
