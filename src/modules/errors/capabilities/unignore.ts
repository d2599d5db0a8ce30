import { statusCapability } from '../groups/status-capability.ts';

export const unignore = statusCapability({
  path: '/v1/errors/unignore/{error_group_id}',
  summary: 'Stops ignoring an error group.',
  description:
    'The group is unresolved again, and webhooks are told of its events. A group that is not ignored stays as it is.',
  keywords: ['unmute issue', 'unsilence a bug'],
  example: { title: 'Look at it again', after: 'errors.ignore', expect: { is_ignored: false } },
  activity: 'unignored',
  isSo: (group) => !group.is_ignored,
  status: (group) => ({ isResolved: group.is_resolved, isIgnored: false }),
});
