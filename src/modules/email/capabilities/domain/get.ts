import { getOf } from '../../../../kit/resource.ts';
import { domains } from '../../domains/resource.ts';
import { ADDED } from './examples.ts';

export const get = getOf(domains, {
  path: '/v1/email/domain/get/{domain}',
  description:
    'A sending domain with its DNS records as the last check found them. It asks no name server: email.domain.verify does.',
  keywords: ['domain status', 'is my domain verified'],
  examples: [{ title: 'One', before: [ADDED], input: ADDED.input, expect: ADDED.input }],
});
