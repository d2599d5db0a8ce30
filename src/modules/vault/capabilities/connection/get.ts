import { getOf } from '../../../../kit/resource.ts';
import { connections } from '../../connections/resource.ts';
import { connectionFirst } from '../examples.ts';

export const get = getOf(connections, {
  path: '/v1/vault/connection/get/{connection}',
  description: 'Its rule, whether it works, and who used it last; never its secret.',
  keywords: ['show credential', 'is the token still valid'],
  examples: [{ title: 'One', before: [connectionFirst], input: { connection: 'forge' }, expect: { status: 'ready' } }],
});
