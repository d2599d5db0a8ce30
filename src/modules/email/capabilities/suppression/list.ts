import Type from 'typebox';
import { listOf } from '../../../../kit/resource.ts';
import { suppressionSchema, suppressions } from '../../suppressions/store.ts';

export const list = listOf(suppressions, {
  path: '/v1/email/suppression/list',
  description: 'Addresses that get no mail of the account, by address, page by page.',
  keywords: ['suppression list', 'bounced addresses', 'unsubscribed addresses', 'blocked recipients'],
  filters: { reason: Type.Optional(suppressionSchema.properties.reason) },
  examples: [
    {
      title: 'Those who complained',
      input: { reason: 'complaint' },
      expect: { has_more: false },
    },
  ],
});
