import Type from 'typebox';
import { listOf } from '../../../../kit/resource.ts';
import { domainStatusField, domains } from '../../domains/resource.ts';

export const list = listOf(domains, {
  path: '/v1/email/domain/list',
  description: 'Sending domains by name, page by page, each with its DNS records as the last check found them.',
  keywords: ['list sending domains', 'verified domains'],
  filters: { status: Type.Optional(domainStatusField) },
  examples: [{ title: 'Verified ones', input: { status: 'verified' }, expect: { has_more: false } }],
});
