import { deleteOf } from '../../../../kit/resource.ts';
import { providers } from '../../oauth/provider.ts';
import { providerFirst } from '../examples.ts';

export const providerRemove = deleteOf(providers, {
  path: '/v1/vault/provider/delete/{provider}',
  description:
    'Connections that were made with it stay as they are, and go on refreshing: they keep the client that they were made with. Pages to connect that are open stay good.',
  keywords: ['remove oauth provider', 'delete oauth client'],
  examples: [
    { title: 'Not needed any more', before: [providerFirst], input: { provider: 'forge' }, expect: { deleted: true } },
  ],
});
