import { deleteOf } from '../../../../kit/resource.ts';
import { connections } from '../../connections/resource.ts';
import { connectionFirst } from '../examples.ts';

export const remove = deleteOf(connections, {
  path: '/v1/vault/connection/delete/{connection}',
  description:
    'The secret is gone at once, and calls under way may end. Revoke it at the target too, if it may be known to others.',
  keywords: ['delete credential', 'revoke connection', 'disconnect account'],
  examples: [
    {
      title: 'Not needed any more',
      before: [connectionFirst],
      input: { connection: 'forge' },
      expect: { deleted: true },
    },
  ],
});
