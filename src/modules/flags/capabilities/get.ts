import { getOf } from '../../../kit/resource.ts';
import { flags } from '../flags/resource.ts';

export const get = getOf(flags, {
  path: '/v1/flags/get/{key}',
  description: 'The flag with its variants and its rule. To ask who gets what, evaluate it (flags.evaluate).',
  keywords: ['read feature flag', 'show flag rules'],
  examples: [
    {
      title: 'One flag',
      before: [
        {
          capability: 'flags.create',
          input: { key: 'search', type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' },
        },
      ],
      input: { key: 'search' },
      expect: { type: 'boolean', variants: { on: true, off: false } },
    },
  ],
});
