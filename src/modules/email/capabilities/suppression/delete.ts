import { deleteOf } from '../../../../kit/resource.ts';
import { suppressions } from '../../suppressions/store.ts';

export const remove = deleteOf(suppressions, {
  path: '/v1/email/suppression/delete/{address}',
  summary: 'Takes an address off the suppression list.',
  description:
    'It gets mail again. Do so only when you know that the mailbox works and its owner wants your mail: bounces and complaints cost your reputation.',
  keywords: ['unsuppress address', 'unblock recipient', 'allow recipient again'],
  examples: [
    {
      title: 'One address',
      before: [{ capability: 'email.suppression.add', input: { address: 'grace@example.org' } }],
      input: { address: 'grace@example.org' },
      expect: { deleted: true, status: null },
    },
  ],
});
