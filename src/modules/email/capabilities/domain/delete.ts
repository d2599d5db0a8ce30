import { deleteOf } from '../../../../kit/resource.ts';
import { domains } from '../../domains/resource.ts';
import { ADDED } from './examples.ts';

export const remove = deleteOf(domains, {
  path: '/v1/email/domain/delete/{domain}',
  summary: 'Deletes a sending domain.',
  description:
    'Mail from it is refused from now on, and its inboxes receive nothing. Mail already accepted is still sent. Adding it again needs the same DKIM record.',
  keywords: ['remove sending domain', 'unverify domain'],
  examples: [{ title: 'One', before: [ADDED], input: ADDED.input, expect: { deleted: true, status: null } }],
});
